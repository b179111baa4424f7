// Runs the lifecycle hooks preStop and postStart as the kubelet does.
import { systemClock, wait } from '../../clock.ts';
import type { Container } from './container.ts';
import type { Hook } from './pod.ts';
import { probeHttp } from './probes/http.ts';

/**
 * HookEnd says how a hook ended. `failure` is the reason in the kubelet's event, or undefined if the hook succeeded.
 */
export interface HookEnd {
  readonly failure: string | undefined;
}

// The timeout of a hook, in seconds. The kubelet sets no timeout for a hook (K-092), so this time is too long to be
// ever reached. Only the grace period limits a preStop hook.
const withoutLimit = 24 * 3_600;

/**
 * runHook runs a preStop or postStart hook until the hook ends. A sleep ends early if `destroyed` is aborted. The
 * promise never rejects.
 */
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
      // For the kubelet, every HTTP response to a hook is a success, even with a status of 500 or more (K-092).
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
