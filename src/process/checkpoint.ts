// The checkpoint: a file that survives a restart of the container. It records which phase of the lifecycle this run of
// the process has reached.
import type { Cluster } from 'node:cluster';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { wallTime } from '../clock.ts';
import { messageOf } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { signalNames, type SignalName } from '../lifecycle/graph.ts';
import type { PreviousRun } from '../observer.ts';
import { version } from '../version.ts';
import { bootId, podUid } from './run-identity.ts';
import { thisProcess } from './this-process.ts';

/** CheckpointRecord is the content of the checkpoint file, as JSON. */
export interface CheckpointRecord {
  /** bootId identifies the boot of the machine. It is null if the operating system does not provide a boot id. */
  readonly bootId: string | null;
  /** startedAt is the time at which the lifecycle was created, in ISO 8601. */
  readonly startedAt: string;
  /** `version` is the version of lameduck. */
  readonly version: string;
  /** podUid is the UID of the pod. It is null outside Kubernetes. */
  readonly podUid: string | null;
  /**
   * `phase` is the last lifecycle signal that has fired. It is `Started` before the first signal, and `Exited` after
   * the process has exited on its own.
   */
  readonly phase: 'Started' | SignalName | 'Exited';
  /** cleanExit is true if the process has exited on its own with exit code 0. */
  readonly cleanExit: boolean;
}

/** CheckpointLines are the log lines about the checkpoint. */
export interface CheckpointLines {
  onPreviousRun(run: PreviousRun): void;
  /**
   * onPreviousRunUnknown is called if the checkpoint file has no valid record of this pod. lameduck then replaces the
   * file.
   */
  onPreviousRunUnknown(path: string, error: Error): void;
  /** onCheckpointFailure is called once, when the checkpoint file cannot be written. */
  onCheckpointFailure(path: string, error: Error): void;
}

// The largest number of bytes of a valid checkpoint record.
const longestRecord = 4_096;

const phases: readonly string[] = ['Started', ...signalNames, 'Exited'];
const phasesBeforeReady: readonly string[] = ['Started', 'MuxAndDiscoveryComplete'];

/**
 * openCheckpoint reads the checkpoint record of the previous run and writes the first record of this run. It never
 * throws. If the path cannot be used, it logs one line and returns undefined.
 */
export function openCheckpoint(path: string, lines: CheckpointLines): Checkpoint | undefined {
  if (path === '') return undefined;
  try {
    checkPath(path);
    return new Checkpoint(path, lines);
  } catch (error) {
    lines.onCheckpointFailure(path, asError(error));
    return undefined;
  }
}

/**
 * Checkpoint writes the checkpoint file at each phase of the lifecycle. It writes synchronously, so that the file
 * contains the phase even if the process is killed right after it.
 */
export class Checkpoint {
  readonly previousRun: PreviousRun;
  readonly #path: string;
  readonly #lines: CheckpointLines;
  readonly #onExit = (code: number): void => {
    this.end(Number(process.exitCode ?? code));
  };
  #record: CheckpointRecord = {
    bootId: bootId(),
    startedAt: new Date(wallTime()).toISOString(),
    version,
    podUid: podUid(),
    phase: 'Started',
    cleanExit: false,
  };
  #hasFailed = false;

  constructor(path: string, lines: CheckpointLines) {
    this.#path = path;
    this.#lines = lines;
    this.previousRun = this.#readPrevious();
    thisProcess().checkpoints.add(path);
    process.on('exit', this.#onExit);
    this.#write();
  }

  /** `note()` records in the checkpoint file that the lifecycle has reached `phase`. */
  note(phase: SignalName): void {
    this.#record = { ...this.#record, phase };
    this.#write();
  }

  /**
   * `end()` records in the checkpoint file that the process exits on its own. After this call, another lifecycle of
   * this process may use the file.
   */
  end(exitCode: number): void {
    this.#record = { ...this.#record, phase: 'Exited', cleanExit: exitCode === exitCodes.clean };
    this.#write();
    thisProcess().checkpoints.delete(this.#path);
    process.off('exit', this.#onExit);
  }

  #readPrevious(): PreviousRun {
    try {
      const run = previousRunOf(readRecord(this.#path), this.#record);
      if (run.outcome !== 'none') this.#lines.onPreviousRun(run);
      return run;
    } catch (error) {
      this.#lines.onPreviousRunUnknown(this.#path, asError(error));
      return { outcome: 'unknown', phase: '' };
    }
  }

  // Writes the checkpoint file. The written data survives a kill of the process even without fsync, and fsync may take
  // seconds on a busy disk. So this function does not call fsync.
  #write(): void {
    const temporary = `${this.#path}.tmp`;
    try {
      // Remove a temporary file of an earlier run, which was killed while it wrote the checkpoint.
      rmSync(temporary, { force: true });
      writeFileSync(temporary, `${JSON.stringify(this.#record)}\n`, { flag: 'wx' });
      renameSync(temporary, this.#path);
    } catch (error) {
      if (!this.#hasFailed) this.#lines.onCheckpointFailure(this.#path, asError(error));
      this.#hasFailed = true;
    }
  }
}

function checkPath(path: string): void {
  if (thisProcess().checkpoints.has(path))
    throw new Error('another lifecycle of this process already writes the checkpoint file');
  if (!isMainThread)
    throw new Error('only the main thread of a process can write a checkpoint, and this is a worker thread');
  if (isClusterWorker()) throw new Error('a worker of node:cluster cannot write a checkpoint');
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === false) throw new Error('the path is not a regular file');
}

// A process without an IPC channel is not a worker, so do not load `node:cluster`.
function isClusterWorker(): boolean {
  return process.channel !== undefined && (process.getBuiltinModule('node:cluster') as unknown as Cluster).isWorker;
}

function readRecord(path: string): CheckpointRecord | undefined {
  let descriptor: number;
  try {
    // With O_NONBLOCK, opening a pipe does not wait for a writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const record = fstatSync(descriptor).size > longestRecord ? undefined : parse(readFileSync(descriptor, 'utf8'));
    if (record === undefined) throw new Error('the file is not a complete checkpoint of lameduck');
    return record;
  } finally {
    closeSync(descriptor);
  }
}

function parse(text: string): CheckpointRecord | undefined {
  try {
    const given: unknown = JSON.parse(text);
    return isRecord(given) ? given : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(given: unknown): given is CheckpointRecord {
  const record = Object(given) as Readonly<Record<keyof CheckpointRecord, unknown>>;
  const isText = (value: unknown): boolean => typeof value === 'string';
  return (
    [record.startedAt, record.version].every(isText) &&
    [record.bootId, record.podUid].every((value) => value === null || isText(value)) &&
    phases.includes(record.phase as string) &&
    typeof record.cleanExit === 'boolean'
  );
}

/**
 * previousRunOf returns how the previous run of the container ended. It throws if the record belongs to another pod,
 * because that pod may still be running.
 */
export function previousRunOf(previous: CheckpointRecord | undefined, current: CheckpointRecord): PreviousRun {
  if (previous === undefined) return { outcome: 'none', phase: '' };
  if (differ(previous.podUid, current.podUid))
    throw new Error(`the file belongs to the pod ${String(previous.podUid)}`);
  const { phase, startedAt, version: ofVersion } = previous;
  const hasNodeRestarted = differ(previous.bootId, current.bootId);
  return { outcome: outcomeOf(previous), phase, startedAt, version: ofVersion, hasNodeRestarted };
}

function outcomeOf({ phase, cleanExit }: CheckpointRecord): PreviousRun['outcome'] {
  if (phase === 'Exited') return cleanExit ? 'clean' : 'failed';
  return phasesBeforeReady.includes(phase) ? 'never_ready' : 'killed';
}

function differ(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
