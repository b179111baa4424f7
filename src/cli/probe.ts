// `lameduck probe`: sends one probe to the probe port or to a gRPC health service, for an exec probe or a HEALTHCHECK.
// It loads as few modules as possible.
import { standardError, standardOutput } from '../standard-output.ts';
import { failingIn } from '../health/report.ts';
import { nameShown, valueOf, type Environment } from '../settings/environment.ts';
import { host as hostKind, limit as limitKind, port as portKind, type Kind } from '../settings/kinds.ts';
import { usualProbePort } from '../settings/probe-port.ts';
import { ask, type Outcome, type Place } from './ask.ts';
import type { GrpcOutcome } from './ask-grpc.ts';
import { say } from './command.ts';

// The default of `--timeout`, in milliseconds since the start of the process. It is shorter than the kubelet's default
// probe timeout of one second.
const usualLimit = 900;

const usage =
  'usage: lameduck probe [readyz | livez | healthz] [--port 8081] [--timeout 900ms], or lameduck probe grpc --port 9090 [--service livez] [--timeout 900ms]';

const options: readonly string[] = ['--port', '--service', '--timeout'];

// The exit codes of a probe. Docker's HEALTHCHECK defines no other codes.
const passed = 0;
const failed = 1;

interface Asked extends Place {
  /** `target` is the endpoint to request, such as `readyz`. It is `grpc` for a gRPC health check. */
  readonly target: string;
  /** `service` is the name of the gRPC service. It is undefined for an HTTP endpoint. */
  readonly service: string | undefined;
}

/**
 * `probe()` resolves with exit code 0 if the probe passes. It resolves with 1 if the probe fails, gets no answer or has
 * invalid arguments.
 */
export async function probe(args: readonly string[], environment: Environment): Promise<number> {
  if (args.includes('--help')) {
    say(standardOutput, usage);
    return passed;
  }
  const asked = read(args, environment);
  if (typeof asked === 'string') {
    say(standardError, `lameduck probe: ${asked}; ${usage}`);
    return failed;
  }
  const { text, isPassed } = verdict(asked, await outcomeOf(asked));
  say(standardOutput, text);
  return isPassed ? passed : failed;
}

async function outcomeOf({ service, ...asked }: Asked): Promise<Outcome | GrpcOutcome> {
  if (service === undefined) return ask(asked);
  const { askGrpc } = await import('./ask-grpc.ts');
  return askGrpc({ ...asked, service });
}

function verdict({ target, port, limit }: Asked, outcome: Outcome | GrpcOutcome): { text: string; isPassed: boolean } {
  if (outcome.kind === 'late') {
    return { text: `${target}: no answer on port ${String(port)} within ${String(limit)} ms`, isPassed: false };
  }
  if (outcome.kind === 'unreachable') {
    return { text: `${target}: nothing answers on port ${String(port)}: ${outcome.reason}`, isPassed: false };
  }
  if (outcome.kind === 'said') {
    const { failure } = outcome;
    return {
      text: `${target}: ${failure === undefined ? 'ok' : `failed: ${failure}`}`,
      isPassed: failure === undefined,
    };
  }
  const { status, age, body } = outcome;
  const failing = failingIn(body);
  const isPassed = status >= 200 && status < 400;
  const aged =
    age === undefined || age === '0' ? '' : ` (the state of ${age} s ago, because the event loop is blocked)`;
  const why = failing.length === 0 ? `status ${String(status)}` : failing.join(', ');
  return { text: `${target}: ${isPassed ? 'ok' : `failed: ${why}`}${aged}`, isPassed };
}

/** `read()` parses the arguments of `lameduck probe`. If they are invalid, it returns the problem as a text. */
function read(args: readonly string[], environment: Environment): Asked | string {
  const given: Record<string, string> = {};
  let target: string | undefined;
  const rest = args.flatMap((arg) => (/^--\w+=/.test(arg) ? arg.split(/=(.*)/s, 2) : [arg]));
  while (rest.length > 0) {
    const arg = rest.shift() as string;
    if (options.includes(arg)) {
      const value = rest.shift();
      if (value === undefined) return `${arg} has no value`;
      given[arg] = value;
    } else if (target === undefined && /^(\/?(readyz|livez|healthz)([/?][!-~]*)?|grpc)$/.test(arg)) target = arg;
    else return `${JSON.stringify(arg.slice(0, 100))} is neither an endpoint nor an option`;
  }
  const isGrpc = target === 'grpc';
  const service = isGrpc ? (given['--service'] ?? '') : given['--service'];
  if (!isGrpc && service !== undefined) return '--service is valid only with grpc';
  const port = portOf(given['--port'], isGrpc, environment);
  if (typeof port === 'string') return port;
  const limit = given['--timeout'] === undefined ? usualLimit : readAs(limitKind, given['--timeout']);
  if (typeof limit === 'string') return `--timeout: ${limit}`;
  const hosts = hostsOf(valueOf(environment, 'LAMEDUCK_PROBE_HOST'));
  if (typeof hosts === 'string') return hosts;
  const named = service === undefined || service === '' ? '' : ` ${nameShown(service)}`;
  return { target: `${(target ?? 'readyz').replace(/^\//, '')}${named}`, service, port, hosts, limit };
}

// Returns the port to probe. For gRPC there is no default, because no setting contains the port of the program's gRPC
// server.
function portOf(given: string | undefined, isGrpc: boolean, environment: Environment): number | string {
  const usual = isGrpc ? 'off' : (valueOf(environment, 'LAMEDUCK_PROBE_PORT') ?? String(usualProbePort));
  const port = readAs(portKind, given ?? usual);
  if (typeof port === 'string') return `port: ${port}`;
  if (port !== 0) return port;
  return isGrpc ? 'grpc requires --port, an integer from 1 to 65535' : 'the probe port is off: set LAMEDUCK_PROBE_PORT';
}

function readAs<Value>(kind: Kind<Value>, text: string): Value | string {
  const reading = kind.fromText(text);
  return 'value' in reading ? reading.value : `${JSON.stringify(text.slice(0, 100))}: expected ${reading.allowed}`;
}

// Returns the hosts that `lameduck probe` tries. If the probe port listens on all addresses, they are the loopback
// addresses.
function hostsOf(bound: string | undefined): readonly string[] | string {
  if (bound === undefined || bound === '0.0.0.0' || bound === '::') return ['127.0.0.1', '::1'];
  const reading = hostKind.fromText(bound);
  return 'value' in reading ? [bound] : `LAMEDUCK_PROBE_HOST: expected ${reading.allowed}`;
}
