// Completes a pod template as the API server does, so that an absent field equals a field that is set to its default.
// No side effects.
import { isObject, object, text, type Fields } from '../manifest/fields.ts';
import { defaultGracePeriodSeconds, probeDefaults } from '../rehearsal/pod.ts';
import { quantity } from './quantity.ts';

// The manifest fields whose value is a map, such as the labels. The user chooses the keys and the values of such a map.
const maps: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'volumeAttributes',
  'options',
]);

const quantities: ReadonlySet<string> = new Set(['limits', 'requests', 'overhead']);

// The fields that are structs without a pointer in the Go types of the Kubernetes API. For such a field, `{}` has the
// same effect as the absence of the field.
const values: ReadonlySet<string> = new Set(['metadata', 'resources', 'status']);

// The fields that Go stores by pointer. `false` and 0 in such a field differ from an absent field.
const pointers: ReadonlySet<string> = new Set([
  'runAsNonRoot',
  'privileged',
  'allowPrivilegeEscalation',
  'readOnlyRootFilesystem',
  'hostProcess',
  'hostUsers',
  'automountServiceAccountToken',
  'enableServiceLinks',
  'shareProcessNamespace',
  'setHostnameAsFQDN',
  'optional',
  'runAsUser',
  'runAsGroup',
  'fsGroup',
  'priority',
  'activeDeadlineSeconds',
  'tolerationSeconds',
  'defaultMode',
  'mode',
  'terminationGracePeriodSeconds',
  'minDomains',
  'expirationSeconds',
  'partition',
]);

const fileMode = 0o644;
const tokenSeconds = 3_600;

/**
 * templateWithDefaults returns a pod template with the default of each absent field, and without the fields that do not
 * affect the pods.
 */
export function templateWithDefaults({ metadata, spec }: Fields): Fields {
  const { labels, annotations } = object(metadata);
  // The Deployment controller sets the label `pod-template-hash`, so ignore it (K-156).
  const { 'pod-template-hash': _, ...own } = object(labels);
  return object(clean({ metadata: { labels: own, annotations }, spec: podSpecWithDefaults(object(spec)) }));
}

/**
 * podWithDefaults fills in the API server's defaults in a Pod, as templateWithDefaults does in a pod template. If a Pod
 * has a resource limit without a resource request, the API server sets the request to the limit. It does not do so in a
 * pod template.
 */
export function podWithDefaults({ spec, ...pod }: Fields): Fields {
  const withRequests = (container: Fields): Fields => ({
    ...container,
    ...inside(container, 'resources', (resources) => ({
      ...resources,
      requests: { ...object(resources['limits']), ...object(resources['requests']) },
    })),
  });
  const lists = ['containers', 'initContainers'].map((list) => eachIn(object(spec), list, withRequests));
  return templateWithDefaults({ ...pod, spec: { ...object(spec), ...lists[0], ...lists[1] } });
}

function podSpecWithDefaults({ serviceAccount, ...spec }: Fields): Fields {
  return {
    ...withDefaults(spec, {
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      terminationGracePeriodSeconds: defaultGracePeriodSeconds,
      securityContext: {},
      enableServiceLinks: true,
      serviceAccountName: serviceAccount,
    }),
    ...eachIn(spec, 'containers', containerWithDefaults),
    ...eachIn(spec, 'initContainers', containerWithDefaults),
    ...eachIn(spec, 'volumes', volumeWithDefaults),
  };
}

function containerWithDefaults(container: Fields): Fields {
  const filled = withDefaults(container, {
    imagePullPolicy: isLatest(text(container['image'], '')) ? 'Always' : 'IfNotPresent',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  return {
    ...filled,
    ...eachIn(container, 'ports', (port) => withDefaults(port, { protocol: 'TCP' })),
    ...eachIn(container, 'env', environmentVariable),
    ...inside(container, 'startupProbe', probeWithDefaults),
    ...inside(container, 'readinessProbe', probeWithDefaults),
    ...inside(container, 'livenessProbe', probeWithDefaults),
    ...inside(container, 'lifecycle', (hooks) => ({
      ...hooks,
      ...inside(hooks, 'preStop', handlerWithDefaults),
      ...inside(hooks, 'postStart', handlerWithDefaults),
    })),
  };
}

function isLatest(image: string): boolean {
  const [name = '', digest] = image.split('@', 2);
  const [, tag = digest === undefined ? 'latest' : ''] = /:([^:/]+)$/.exec(name) ?? [];
  return tag === 'latest';
}

function environmentVariable(variable: Fields): Fields {
  return {
    ...variable,
    ...inside(variable, 'valueFrom', (source) => ({
      ...source,
      ...inside(source, 'fieldRef', (reference) => withDefaults(reference, { apiVersion: 'v1' })),
      ...inside(source, 'resourceFieldRef', (reference) => withDefaults(reference, { divisor: '0' })),
    })),
  };
}

function probeWithDefaults(probe: Fields): Fields {
  const { terminationGracePeriodSeconds: _, initialDelaySeconds: __, ...positive } = probeDefaults;
  // If the minimum of a probe field is 1, the value 0 means the default (K-002).
  const given = Object.entries(probe).filter(([name, value]) => !(name in positive && value === 0));
  return withDefaults(handlerWithDefaults(Object.fromEntries(given)), positive);
}

function handlerWithDefaults(handler: Fields): Fields {
  return {
    ...handler,
    ...inside(handler, 'httpGet', (httpGet) => withDefaults(httpGet, { path: '/', scheme: 'HTTP' })),
  };
}

function volumeWithDefaults(volume: Fields): Fields {
  const mode = (source: Fields): Fields => withDefaults(source, { defaultMode: fileMode });
  const hasSource = Object.entries(volume).some(([name, source]) => name !== 'name' && source !== null);
  return {
    ...(hasSource ? volume : { ...volume, emptyDir: {} }),
    ...inside(volume, 'secret', mode),
    ...inside(volume, 'configMap', mode),
    ...inside(volume, 'downwardAPI', (source) => ({ ...mode(source), ...eachIn(source, 'items', environmentFile) })),
    ...inside(volume, 'projected', (source) => ({ ...mode(source), ...eachIn(source, 'sources', projectedSource) })),
    ...inside(volume, 'ephemeral', (source) => ({
      ...source,
      ...inside(source, 'volumeClaimTemplate', claimWithDefaults),
    })),
  };
}

function environmentFile(item: Fields): Fields {
  return { ...item, ...inside(item, 'fieldRef', (reference) => withDefaults(reference, { apiVersion: 'v1' })) };
}

function projectedSource(source: Fields): Fields {
  return {
    ...source,
    ...inside(source, 'downwardAPI', (files) => ({ ...files, ...eachIn(files, 'items', environmentFile) })),
    ...inside(source, 'serviceAccountToken', (token) => withDefaults(token, { expirationSeconds: tokenSeconds })),
  };
}

/** claimWithDefaults returns the template of a volume claim with its defaults. */
export function claimWithDefaults({ status: _, apiVersion: __, kind: ___, ...claim }: Fields): Fields {
  return { ...claim, ...inside(claim, 'spec', (spec) => withDefaults(spec, { volumeMode: 'Filesystem' })) };
}

function withDefaults(fields: Fields, defaults: Fields): Fields {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return { ...defaults, ...Object.fromEntries(given) };
}

function inside(fields: Fields, name: string, change: (value: Fields) => Fields): Fields {
  const value = fields[name];
  return isObject(value) ? { [name]: change(value) } : {};
}

function eachIn(fields: Fields, name: string, change: (value: Fields) => Fields): Fields {
  const list = fields[name];
  return Array.isArray(list) ? { [name]: list.map((one: unknown) => (isObject(one) ? change(one) : one)) } : {};
}

/**
 * `clean()` removes values that the API server treats like an absent field. It writes equal quantities as equal texts.
 */
export function clean(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => clean(one));
  if (!isObject(value)) return value;
  if (maps.has(name)) return value;
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => {
    const isQuantity = quantities.has(name) || key === 'sizeLimit' || key === 'divisor';
    return [key, isQuantity ? quantity(one) : clean(one, key)];
  });
  return Object.fromEntries(entries.filter(([key, one]) => quantities.has(name) || !isNothing(key, one)));
}

function isNothing(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  if (value === false || value === 0) return !pointers.has(name);
  if (!isObject(value) || Object.keys(value).length > 0) return false;
  return maps.has(name) || quantities.has(name) || values.has(name);
}
