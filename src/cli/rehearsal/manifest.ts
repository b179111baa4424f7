// A pod out of a manifest: the first Pod, or the pod template of the first Deployment, StatefulSet, DaemonSet or Job.
import { LineCounter, parseAllDocuments } from 'yaml';
import {
  defaultGracePeriodSeconds,
  probeDefaults,
  type ContainerSpec,
  type Handler,
  type Hook,
  type PodSpec,
  type Probe,
} from './pod.ts';
import type { ProbeType } from './streak.ts';

/** ManifestReading is a pod, with what could not be used of the manifest, or why there is none. */
export type ManifestReading =
  { readonly pod: PodSpec; readonly warnings: readonly string[] } | { readonly problem: string };

type Fields = Readonly<Record<string, unknown>>;

/**
 * readManifest returns the pod of a manifest. `commands` has the command of each container by its name, since an image
 * cannot be run here; `fallback` is the command of the only container without one.
 */
export function readManifest(
  content: string,
  file: string,
  commands: ReadonlyMap<string, readonly string[]>,
  fallback: readonly string[],
): ManifestReading {
  const warnings: string[] = [];
  const template = findPod(content, file, warnings);
  if (template === undefined) return { problem: [`${file} has no pod`, ...warnings].join('; ') };
  const { name, spec } = template;
  const sidecars = objects(spec['initContainers']).filter((one) => one['restartPolicy'] === 'Always');
  const skipped = objects(spec['initContainers']).length - sidecars.length;
  if (skipped > 0) warnings.push(`${String(skipped)} init containers are not run`);
  const regular = objects(spec['containers']);
  const unnamed = regular.filter((one) => !commands.has(String(one['name'])));
  const containers: ContainerSpec[] = [];
  for (const one of [...sidecars, ...regular]) {
    const own = text(one['name'], 'app');
    const command = commands.get(own) ?? (unnamed[0] === one ? fallback : undefined);
    if (command === undefined || command.length === 0) {
      warnings.push(`container ${own} is not run: give its command with --container ${own}=COMMAND`);
    } else containers.push(containerOf(one, command, sidecars.includes(one)));
  }
  if (!containers.some(({ isSidecar }) => !isSidecar)) return { problem: `${file}: no container has a command` };
  const { terminationGracePeriodSeconds, restartPolicy } = spec;
  const pod: PodSpec = {
    name,
    containers,
    terminationGracePeriodSeconds: number(terminationGracePeriodSeconds, defaultGracePeriodSeconds),
    restartPolicy: restartPolicy === 'Never' || restartPolicy === 'OnFailure' ? restartPolicy : 'Always',
  };
  return { pod, warnings };
}

function findPod(manifest: string, file: string, warnings: string[]): { name: string; spec: Fields } | undefined {
  const lines = new LineCounter();
  for (const document of parseAllDocuments(manifest, { lineCounter: lines })) {
    const [error] = document.errors;
    if (error !== undefined) {
      warnings.push(`${file}:${String(lines.linePos(error.pos[0]).line)}: ${error.message.split('\n', 1).join()}`);
      continue;
    }
    const content: unknown = document.toJS();
    const items = isObject(content) && content['kind'] === 'List' ? objects(content['items']) : [content];
    for (const item of items) {
      const spec = isObject(item) ? podSpecOf(item) : undefined;
      if (spec !== undefined && isObject(item)) {
        return { name: text(object(item['metadata'])['name'], 'app'), spec };
      }
    }
  }
  return undefined;
}

const templated: readonly unknown[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job'];

function podSpecOf({ kind, spec }: Fields): Fields | undefined {
  if (kind === 'Pod') return object(spec);
  if (kind === 'CronJob')
    return object(object(object(object(object(spec)['jobTemplate'])['spec'])['template'])['spec']);
  return templated.includes(kind) ? object(object(object(spec)['template'])['spec']) : undefined;
}

function containerOf(container: Fields, command: readonly string[], isSidecar: boolean): ContainerSpec {
  const { name = 'app', lifecycle } = container;
  const ports = objects(container['ports']);
  const portOf = (port: unknown): number | undefined =>
    typeof port === 'number' ? port : numberOrUndefined(ports.find((one) => one['name'] === port)?.['containerPort']);
  const env = Object.fromEntries(
    objects(container['env'])
      .filter((one) => typeof one['value'] === 'string')
      .map((one) => [String(one['name']), String(one['value'])]),
  );
  const types: readonly ProbeType[] = ['startup', 'readiness', 'liveness'];
  const hooks = object(lifecycle);
  return {
    name: String(name),
    command,
    env,
    ports: ports.map((one) => number(one['containerPort'], 0)).filter((port) => port > 0),
    probes: types
      .filter((type) => isObject(container[`${type}Probe`]))
      .map((type) => probeOf(type, object(container[`${type}Probe`]), portOf, env)),
    preStop: hookOf(hooks['preStop'], portOf, env),
    postStart: hookOf(hooks['postStart'], portOf, env),
    stopSignal: stopSignalOf(hooks['stopSignal']),
    isSidecar,
  };
}

type PortOf = (port: unknown) => number | undefined;
type Env = Readonly<Record<string, string>>;

function probeOf(type: ProbeType, probe: Fields, portOf: PortOf, env: Env): Probe {
  const at = (field: keyof typeof probeDefaults, fallback: number): number => {
    const given = number(probe[field], fallback);
    // K-002.
    return given === 0 && fallback > 0 ? fallback : given;
  };
  return {
    type,
    handler: handlerOf(probe, portOf, env) ?? { kind: 'broken', reason: 'the probe has no handler' },
    initialDelaySeconds: number(probe['initialDelaySeconds'], probeDefaults.initialDelaySeconds),
    timeoutSeconds: at('timeoutSeconds', probeDefaults.timeoutSeconds),
    periodSeconds: at('periodSeconds', probeDefaults.periodSeconds),
    successThreshold: at('successThreshold', probeDefaults.successThreshold),
    failureThreshold: at('failureThreshold', probeDefaults.failureThreshold),
    terminationGracePeriodSeconds: numberOrUndefined(probe['terminationGracePeriodSeconds']),
  };
}

function handlerOf(fields: Fields, portOf: PortOf, env: Env): Handler | undefined {
  const { httpGet, tcpSocket, grpc, exec } = fields;
  const found = [httpGet, tcpSocket, grpc].find(isObject);
  const port = portOf(found?.['port']);
  if (found !== undefined && port === undefined) {
    return { kind: 'broken', reason: `no port of the container is named ${JSON.stringify(found['port'])}` };
  }
  if (isObject(httpGet) && port !== undefined) {
    const { path = '/', scheme, httpHeaders } = httpGet;
    const headers = objects(httpHeaders).map(({ name, value }) => ({ name: String(name), value: String(value) }));
    return { kind: 'http', port, path: String(path), scheme: scheme === 'HTTPS' ? 'HTTPS' : 'HTTP', headers };
  }
  if (isObject(tcpSocket) && port !== undefined) return { kind: 'tcp', port };
  if (isObject(grpc) && port !== undefined) return { kind: 'grpc', port, service: text(grpc['service'], '') };
  if (!isObject(exec)) return undefined;
  const command = Array.isArray(exec['command']) ? exec['command'].map((one) => expand(String(one), env)) : [];
  return { kind: 'exec', command };
}

function hookOf(hook: unknown, portOf: PortOf, env: Env): Hook | undefined {
  if (!isObject(hook)) return undefined;
  const { sleep } = hook;
  if (isObject(sleep)) return { kind: 'sleep', seconds: number(sleep['seconds'], 0) };
  return handlerOf(hook, portOf, env);
}

/** expand replaces `$(NAME)` by a static variable; `$$(NAME)` is left as `$(NAME)` (K-038). */
export function expand(argument: string, env: Env): string {
  return argument.replace(/\$(\$|\(([^)]*)\))/g, (all, first: string, name: string | undefined) => {
    if (first === '$') return '$';
    return name !== undefined && Object.hasOwn(env, name) ? (env[name] ?? all) : all;
  });
}

function stopSignalOf(given: unknown): NodeJS.Signals {
  const name = typeof given === 'string' ? given : 'SIGTERM';
  return (name.startsWith('SIG') ? name : `SIG${name}`) as NodeJS.Signals;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function objects(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function number(value: unknown, fallback: number): number {
  return numberOrUndefined(value) ?? fallback;
}

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}
