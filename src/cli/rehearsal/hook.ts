// The kubelet's lifecycle hooks, preStop and postStart.
import { systemClock, wait } from '../../clock.ts';
import type { Container } from './container.ts';
import type { Hook } from './pod.ts';
import { probeHttp } from './probes/http.ts';

/** HookEnd is how a hook ended; `failure` is the reason of the kubelet's event. */
export interface HookEnd {
  readonly failure: string | undefined;
}

// The kubelet sets no timeout of its own (K-092). The grace period bounds preStop.
const withoutLimit = 24 * 3_600;

/** runHook runs a hook to its end; a sleep ends when `destroyed` is aborted. It never rejects. */
export async function runHook(
  hook: Hook,
  container: Container,
  host: string,
  destroyed: AbortSignal,
): Promise<HookEnd> {
  switch (hook.kind) {
    case 'sleep':
      await wait(systemClock, hook.seconds * 1_000, destroyed);
      return { failure: undefined };
    case 'exec':
      return runExec(hook.command, container);
    case 'http': {
      const headers = [{ name: 'User-Agent', value: 'kube-lifecycle/1.36' }, ...hook.headers];
      const { status, output } = await probeHttp({ ...hook, headers, host, timeoutSeconds: withoutLimit });
      // Any response is a success, 5xx included (K-092).
      return { failure: status === undefined ? output : undefined };
    }
    case 'tcp':
    case 'grpc':
      return { failure: `${hook.kind} is not supported in a lifecycle hook` };
    case 'broken':
      return { failure: hook.reason };
    default:
      return hook satisfies never;
  }
}

async function runExec(command: readonly string[], container: Container): Promise<HookEnd> {
  const run = await container.run(command);
  if (run.kind === 'exited') return { failure: run.code === 0 ? undefined : `exit ${String(run.code)}: ${run.output}` };
  return { failure: run.kind === 'timedOut' ? 'timed out' : run.reason };
}
