// What the rollout asks of Kubernetes: kubectl, a watch on the pods of one namespace, every log from its first line on.
// The cluster is the one that KUBECONFIG names; how it came to be is no concern of this file.
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** The part of a pod that the rollout looks at. */
export interface Pod {
  metadata: { uid: string; name: string; labels?: Record<string, string>; deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: { conditions?: { type: string; status: string }[]; containerStatuses?: ContainerStatus[] };
}

interface ContainerStatus {
  restartCount: number;
  state: { running?: object; terminated?: { exitCode: number } };
}

/** What is left to know of a pod whose container has run: most of it only while the pod is there to be asked. */
export interface History {
  name: string;
  app: string | undefined;
  /** In the last watch events before the deletion of the pod (P-122). */
  exitCode: number | undefined;
  restartCount: number;
  lastLine: string;
  isLogComplete: boolean;
}

/** Runs a command line that came as a setting, with arguments appended; rejects with what it said when it fails. */
export async function run(commandLine: string, ...args: string[]): Promise<string> {
  const child = start(commandLine, args);
  const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${commandLine} ${args.join(' ')} failed: ${complaint || output}`);
  return output;
}

function start(commandLine: string, args: string[]) {
  // `exec` makes the command the child itself, so that ending the child ends the command.
  return spawn('/bin/sh', ['-c', `exec ${commandLine} "$@"`, 'sh', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** One namespace, observed from its creation to its deletion; `line` is told for each line of each log. */
export class Namespace extends EventEmitter<{ change: []; line: [pod: string, line: string] }> {
  /** The pods that exist, by uid, as the latest watch event has them. */
  readonly pods = new Map<string, Pod>();
  /** The pods that have run, by uid. */
  readonly histories = new Map<string, History>();
  readonly name: string;
  readonly #kubectl: string;
  readonly #children = new Set<ChildProcess>();

  constructor(kubectl: string, name: string) {
    super();
    this.#kubectl = `${kubectl} --namespace ${name}`;
    this.name = name;
  }

  async create(): Promise<void> {
    await this.kubectl('create', 'namespace', this.name);
    this.#follow(['get', '--raw', `/api/v1/namespaces/${this.name}/pods?watch=1`], (line) => {
      this.#onEvent(JSON.parse(line) as { type: string; object: Pod });
    });
  }

  /** Deletes everything in the namespace, and ends every process that observed it. */
  async delete(): Promise<void> {
    await this.kubectl('delete', 'namespace', this.name, '--ignore-not-found', '--timeout=90s').finally(() => {
      for (const child of this.#children) child.kill();
    });
  }

  kubectl(...args: string[]): Promise<string> {
    return run(this.#kubectl, ...args);
  }

  /** Resolves once `claim` holds; rejects with `what` when it does not within `seconds`. */
  async until(what: string, seconds: number, claim: () => boolean): Promise<void> {
    const limit = AbortSignal.timeout(seconds * 1000);
    while (!claim()) {
      await once(this, 'change', { signal: limit }).catch(() => {
        throw new Error(`not so after ${String(seconds)} s: ${what}`);
      });
    }
  }

  #onEvent({ type, object: pod }: { type: string; object: Pod }): void {
    const { uid } = pod.metadata;
    if (type === 'DELETED') this.pods.delete(uid);
    else this.pods.set(uid, pod);
    for (const { state, restartCount } of pod.status.containerStatuses ?? []) {
      const history = this.histories.get(uid) ?? (state.running && this.#begin(pod));
      if (!history) continue;
      history.exitCode = state.terminated?.exitCode;
      history.restartCount = restartCount;
    }
    this.emit('change');
  }

  #begin({ metadata: { uid, name, labels } }: Pod): History {
    const app = labels?.['app'];
    const history: History = { name, app, exitCode: undefined, restartCount: 0, lastLine: '', isLogComplete: false };
    this.histories.set(uid, history);
    const lines = this.#follow(['logs', '--follow', name], (line) => {
      history.lastLine = line;
      this.emit('line', name, line);
      this.emit('change');
    });
    lines.once('close', () => {
      history.isLogComplete = true;
      this.emit('change');
    });
    return history;
  }

  #follow(args: string[], onLine: (line: string) => void) {
    const child = start(this.#kubectl, args);
    this.#children.add(child);
    child.stderr.pipe(process.stderr);
    return createInterface({ input: child.stdout }).on('line', onLine);
  }
}

/** Whether a pod is ready to serve and has not been asked to leave. */
export function isServing({ metadata, status }: Pod): boolean {
  const isReady = status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  return isReady === true && metadata.deletionTimestamp === undefined;
}
