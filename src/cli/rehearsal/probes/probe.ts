// Runs a probe: httpGet, tcpSocket, grpc or exec.
import type { Container } from '../container.ts';
import type { Handler } from '../pod.ts';
import { probeExec } from './exec.ts';
import { probeGrpc } from './grpc.ts';
import { probeHttp } from './http.ts';
import { runAttempts, type Attempt, type Outcome } from './outcome.ts';
import { probeTcp } from './tcp.ts';

/** runProbe probes a container once, at the IP address of its pod. It never rejects. */
export function runProbe(
  handler: Handler,
  timeoutSeconds: number,
  container: Container,
  host: string,
): Promise<Outcome> {
  return runAttempts((): Promise<Attempt> => {
    switch (handler.kind) {
      case 'http':
        return probeHttp({ ...handler, host, timeoutSeconds });
      case 'tcp':
        return probeTcp(host, handler.port, timeoutSeconds);
      case 'grpc':
        return probeGrpc(host, handler.port, handler.service, timeoutSeconds);
      case 'exec':
        return probeExec(container, handler.command, timeoutSeconds);
      case 'broken':
        return Promise.resolve({ result: 'error', output: handler.reason });
      default:
        return handler satisfies never;
    }
  });
}
