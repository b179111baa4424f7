// The audit log of one lifecycle: writes an event for each stage of a request.
import { wallTime, type Clock } from '../../clock.ts';
import { sentStatus, type HttpRequest, type HttpResponse } from '../../message.ts';
import type { AuditLog, Observer } from '../../observer.ts';
import { silent } from '../logging.ts';
import { describe, lineOf, type AuditedRequest, type Outcome, type Stage } from './event.ts';
import { openTarget } from './target.ts';
import { Writer } from './writer.ts';

export interface AuditLogOptions {
  /** `path` is the path of the log file, or `-` for standard output. */
  readonly path: string;
  readonly clock: Clock;
  /** onFailure is called once, when an event cannot be written to the audit log. */
  readonly onFailure: (error: Error) => void;
}

/**
 * WrittenAuditLog adds to AuditLog the members that only the creator of the audit log uses. They receive lifecycle
 * events, count dropped audit events and close the log.
 */
export interface WrittenAuditLog extends AuditLog {
  /**
   * `observer` receives the events of the lifecycle. From ShutdownInitiated on, the audit log writes each event at
   * once.
   */
  readonly observer: Observer;
  /** `dropped` is the number of audit events that were dropped because the queue was full. */
  readonly dropped: number;
  /** `close()` flushes the audit log and closes its file. Events that arrive after the call are dropped. */
  close(): Promise<void>;
}

/** createAuditLog opens the audit log in the background. It returns undefined if the path is empty. */
export function createAuditLog(options: AuditLogOptions): WrittenAuditLog | undefined {
  return options.path === '' ? undefined : new RequestAudit(options);
}

interface Audited {
  readonly request: AuditedRequest;
  hasStarted: boolean;
  isOver: boolean;
  /**
   * `status` is the status of the response. It is stored, because an upgrade has no response object from which lameduck
   * could read the status later.
   */
  status?: number;
}

// The property under which the record of a request is stored on its response or socket. A WeakMap would take about 2 µs
// more per request, mostly in garbage collections.
const record = Symbol('lameduck.audited');

interface Key {
  [record]?: Audited;
}

class RequestAudit implements WrittenAuditLog {
  readonly observer: Observer;
  readonly #writer: Writer;
  // Load node:crypto here and not by import, so that only a process with an audit log loads it.
  readonly #newID: () => string = process.getBuiltinModule('node:crypto').randomUUID;

  constructor({ path, clock, onFailure }: AuditLogOptions) {
    this.#writer = new Writer({ clock, open: () => openTarget(path), onFailure });
    this.observer = {
      ...silent,
      onSignal: ({ name }) => {
        if (name === 'ShutdownInitiated') this.#writer.writeAtOnce();
      },
    };
  }

  get dropped(): number {
    return this.#writer.dropped;
  }

  get missing(): number {
    return this.#writer.missing;
  }

  onReceived(key: Key, request: HttpRequest): void {
    this.#receive(key, request);
  }

  onStarted(key: Key, status: number): void {
    const audited = key[record];
    if (audited === undefined || audited.hasStarted || audited.isOver) return;
    audited.hasStarted = true;
    audited.status = status;
    this.#write(audited, 'ResponseStarted', { code: status });
  }

  onPanic(key: Key): void {
    const audited = key[record];
    if (audited === undefined || audited.isOver) return;
    audited.isOver = true;
    this.#write(audited, 'Panic');
  }

  onComplete(key: Key, response?: HttpResponse): void {
    // A request may have no RequestReceived event yet: its client disconnected while lameduck delayed the request,
    // before the program received it. The audit log records such a request too.
    const audited = key[record] ?? (response && this.#receive(key, response.req));
    if (audited === undefined || audited.isOver) return;
    audited.isOver = true;
    this.#write(audited, 'ResponseComplete', {
      code: response === undefined ? audited.status : sentStatus(response),
      isIncomplete: response?.writableFinished === false,
    });
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #receive(key: Key, request: HttpRequest): Audited {
    const audited: Audited = {
      request: describe(request, this.#newID(), wallTime()),
      hasStarted: false,
      isOver: false,
    };
    key[record] = audited;
    this.#write(audited, 'RequestReceived');
    return audited;
  }

  #write({ request }: Audited, stage: Stage, outcome?: Outcome): void {
    this.#writer.add(lineOf(request, stage, wallTime(), outcome));
  }
}
