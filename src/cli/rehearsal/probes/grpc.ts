// The kubelet's grpc probe: calls Check of the health service. The result is success or failure, never an error
// (K-033).
import { askGrpc } from '../../ask-grpc.ts';
import { systemClock } from '../../../clock.ts';
import type { Attempt } from './outcome.ts';

/** probeGrpc makes one attempt of a grpc probe. It never rejects. */
export async function probeGrpc(host: string, port: number, service: string, timeoutSeconds: number): Promise<Attempt> {
  const limit = systemClock.now() + timeoutSeconds * 1_000;
  const outcome = await askGrpc({ hosts: [host], port, service, limit, userAgent: 'kube-probe/1.36 grpc-go' });
  if (outcome.kind === 'late') {
    return { result: 'failure', output: `timeout: no response within ${String(timeoutSeconds)}s` };
  }
  const failure = outcome.kind === 'unreachable' ? outcome.reason : outcome.failure;
  return failure === undefined ? { result: 'success', output: '' } : { result: 'failure', output: failure };
}
