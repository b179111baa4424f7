// A temporary file to which lameduck writes its audit log, and functions that parse the log.
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stage } from '../../src/observers/audit/event.ts';

export interface AuditEvent {
  readonly auditID: string;
  readonly stage: Stage;
  readonly responseStatus?: { readonly code: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

export class AuditFile implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'lameduck-audit-'));
  readonly path = join(this.folder, 'audit.log');

  /** The lines of the audit log, without the empty string after the last line feed. */
  get lines(): string[] {
    const lines = this.text.split('\n');
    return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  }

  get text(): string {
    return readFileSync(this.path, 'utf8');
  }

  get events(): AuditEvent[] {
    return this.lines.map((line) => JSON.parse(line) as AuditEvent);
  }

  /** Maps the audit ID of each request to the stages of its audit events, in the order of the log. */
  get stages(): Map<string, Stage[]> {
    const stages = new Map<string, Stage[]>();
    for (const { auditID, stage } of this.events) stages.set(auditID, [...(stages.get(auditID) ?? []), stage]);
    return stages;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}
