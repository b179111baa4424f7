// Reads a container of a manifest and completes its probes with their defaults. No side effects.
import { probeDefaults, type ContainerSpec, type Handler, type Hook, type Probe } from '../rehearsal/pod.ts';
import type { ProbeType } from '../rehearsal/streak.ts';
import { fieldAt, isObject, number, numberOrUndefined, object, objects, text, type Fields } from './fields.ts';

/** probeTypes are the types of probes, in the order in which the kubelet runs them. */
export const probeTypes: readonly ProbeType[] = ['startup', 'readiness', 'liveness'];

/**
 * containerOf converts the fields of a container in a manifest into a ContainerSpec for a rehearsal. A rehearsal cannot
 * run the image of the container. It runs the parameter `command` on this machine instead.
 */
export function containerOf(container: Fields, command: readonly string[], isSidecar: boolean): ContainerSpec {
  const { name = 'app', lifecycle } = container;
  const ports = objects(container['ports']);
  const portOf = (port: unknown): number | undefined =>
    typeof port === 'number' ? port : numberOrUndefined(ports.find((one) => one['name'] === port)?.['containerPort']);
  const env = Object.fromEntries(
    objects(container['env'])
      .map((one) => [String(one['name']), isPodAddress(one) ? everyAddress : one['value']] as const)
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
  const hooks = object(lifecycle);
  return {
    name: String(name),
    command,
    env,
    ports: ports.map((one) => number(one['containerPort'], 0)).filter((port) => port > 0),
    probes: probeTypes
      .filter((type) => isObject(container[`${type}Probe`]))
      .map((type) => probeOf(type, object(container[`${type}Probe`]), portOf, env)),
    preStop: hookOf(hooks['preStop'], portOf, env),
    postStart: hookOf(hooks['postStart'], portOf, env),
    stopSignal: stopSignalOf(hooks['stopSignal']),
    isSidecar,
  };
}

// A rehearsed pod has no address of its own. A server that should listen on the address of its pod listens on every
// address instead.
const everyAddress = '0.0.0.0';

const isPodAddress = (variable: Fields): boolean =>
  fieldAt(variable, ['valueFrom', 'fieldRef', 'fieldPath']) === 'status.podIP';

type PortOf = (port: unknown) => number | undefined;
type Env = Readonly<Record<string, string>>;

function probeOf(type: ProbeType, probe: Fields, portOf: PortOf, env: Env): Probe {
  const at = (field: keyof typeof probeDefaults, fallback: number): number => {
    const given = number(probe[field], fallback);
    // If the default of a probe field is above 0, the value 0 means the default (K-002).
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

/**
 * `expand()` replaces `$(NAME)` with the value of a variable of the container. `$$(NAME)` becomes `$(NAME)` (K-038).
 */
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
