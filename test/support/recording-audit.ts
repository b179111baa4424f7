// An AuditLog that records the stages of each request as text, grouped by the path of the request.
import type { HttpRequest, HttpResponse } from '../../src/message.ts';
import type { AuditLog } from '../../src/observer.ts';
import { sentStatus } from '../../src/message.ts';

export class RecordingAudit implements AuditLog {
  missing = 0;
  readonly #paths = new Map<object, string>();
  readonly #stages = new Map<string, string[]>();

  /** Returns the recorded audit stages of all requests with this path, in order. */
  of(path: string): readonly string[] {
    return this.#stages.get(path) ?? [];
  }

  get paths(): string[] {
    return [...this.#stages.keys()];
  }

  onReceived(key: object, { url = '' }: HttpRequest): void {
    this.#paths.set(key, url);
    this.#add(key, 'received');
  }

  onStarted(key: object, status: number): void {
    this.#add(key, `started ${String(status)}`);
  }

  onPanic(key: object): void {
    this.#add(key, 'panic');
  }

  onComplete(key: object, response?: HttpResponse): void {
    const end = response === undefined ? 'closed' : `${String(sentStatus(response))} ${outcome(response)}`;
    this.#add(key, end);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  #add(key: object, stage: string): void {
    const path = this.#paths.get(key) ?? 'never received';
    this.#stages.set(path, [...(this.#stages.get(path) ?? []), stage]);
  }
}

function outcome({ writableFinished }: HttpResponse): string {
  return writableFinished ? 'whole' : 'incomplete';
}
