// `lameduck probe`: one probe of the probe port, for an exec probe or a HEALTHCHECK. It loads as little as it can.
import { standardError, standardOutput } from '../standard-output.ts';
import { parseDuration } from '../settings/duration.ts';
import { valueOf, type Environment } from '../settings/environment.ts';
import { host as hostKind, port as portKind, type Kind } from '../settings/kinds.ts';
import { usualProbePort } from '../settings/probe-port.ts';
import { ask, type Outcome } from './ask.ts';
import { say } from './command.ts';

// Ahead of the second that the kubelet gives a probe which does not say, in milliseconds since the process was started.
const usualLimit = 900;

const usage = 'usage: lameduck probe [readyz | livez | healthz] [--port 8081] [--timeout 900ms]';

const passed = 0;
const failed = 1;
const misused = 2;

interface Asked {
  readonly target: string;
  readonly port: number;
  readonly hosts: readonly string[];
  readonly limit: number;
}

/** probe exits with 0 when the endpoint passes, 1 when it fails or does not answer, and 2 when it was called in a wrong way. */
export async function probe(args: readonly string[], environment: Environment): Promise<number> {
  if (args.includes('--help')) {
    say(standardOutput, usage);
    return passed;
  }
  const asked = read(args, environment);
  if (typeof asked === 'string') {
    say(standardError, `lameduck probe: ${asked}; ${usage}`);
    return misused;
  }
  const { text, isPassed } = verdict(asked, await ask(asked));
  say(standardOutput, text);
  return isPassed ? passed : failed;
}

function verdict({ target, port, limit }: Asked, outcome: Outcome): { text: string; isPassed: boolean } {
  if (outcome.kind === 'late') {
    return { text: `${target}: no answer on port ${String(port)} within ${String(limit)} ms`, isPassed: false };
  }
  if (outcome.kind === 'unreachable') {
    return { text: `${target}: nothing answers on port ${String(port)}: ${outcome.reason}`, isPassed: false };
  }
  const { status, age, body } = outcome;
  const failing = [...body.matchAll(/^\[-\](\S+) failed/gm)].map(([, name = '']) => name);
  const isPassed = status >= 200 && status < 400;
  const aged = age === undefined || age === '0' ? '' : `, as of ${age} s ago: the event loop does not answer`;
  const why = failing.length === 0 ? `status ${String(status)}` : failing.join(', ');
  return { text: `${target}: ${isPassed ? 'ok' : `failed: ${why}`}${aged}`, isPassed };
}

/** read returns what is to be asked, or what is wrong with how it was said. */
function read(args: readonly string[], environment: Environment): Asked | string {
  const given: Record<string, string> = {};
  let target: string | undefined;
  const rest = args.flatMap((arg) => (/^--\w+=/.test(arg) ? arg.split(/=(.*)/s, 2) : [arg]));
  while (rest.length > 0) {
    const arg = rest.shift() as string;
    if (arg === '--port' || arg === '--timeout') {
      const value = rest.shift();
      if (value === undefined) return `${arg} has no value`;
      given[arg] = value;
    } else if (target === undefined && /^\/?(readyz|livez|healthz)([/?][!-~]*)?$/.test(arg)) target = arg;
    else return `${JSON.stringify(arg.slice(0, 100))} is no endpoint and no option`;
  }
  const port = readAs(
    portKind,
    given['--port'] ?? valueOf(environment, 'LAMEDUCK_PROBE_PORT') ?? String(usualProbePort),
  );
  if (typeof port === 'string') return `port: ${port}`;
  if (port === 0) return 'the probe port is off';
  const limit = given['--timeout'] === undefined ? usualLimit : parseDuration(given['--timeout']);
  if (limit === undefined || limit < 1) return '--timeout: allowed is a duration such as 900ms or 2s';
  const hosts = hostsOf(valueOf(environment, 'LAMEDUCK_PROBE_HOST'));
  return typeof hosts === 'string' ? hosts : { target: (target ?? 'readyz').replace(/^\//, ''), port, hosts, limit };
}

function readAs<Value>(kind: Kind<Value>, text: string): Value | string {
  const reading = kind.fromText(text);
  return 'value' in reading ? reading.value : `${JSON.stringify(text.slice(0, 100))}: allowed is ${reading.allowed}`;
}

// What is bound to every address is asked on the loopback.
function hostsOf(bound: string | undefined): readonly string[] | string {
  if (bound === undefined || bound === '0.0.0.0' || bound === '::') return ['127.0.0.1', '::1'];
  const reading = hostKind.fromText(bound);
  return 'value' in reading ? [bound] : `LAMEDUCK_PROBE_HOST: allowed is ${reading.allowed}`;
}
