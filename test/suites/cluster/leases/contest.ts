// Starts Node.js and Go programs that contend for Leases of a real cluster, and reads from their logs which program
// leads.
//
//   CLUSTER_RUN        optional: a command to which a program and its arguments are appended. The command must replace
//                      itself with that program (`exec`). The variable is needed if this machine cannot reach the
//                      API server, or if kube-scheduler and kube-controller-manager are not on the PATH
//   CLUSTER_AUDIT_LOG  a command that prints the API server's audit log, with whole requests and responses for Leases
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { roleText } from '../../../../src/leader-election/loop/election-log.ts';
import { run } from '../../../support/command-line.ts';
import { CommandUnderTest } from '../../../support/command-under-test.ts';
import type { Namespace } from '../kubernetes.ts';
import { historyOf, type History, type JobDone } from './audit.ts';

const { CLUSTER_RUN: runner = '', CLUSTER_AUDIT_LOG: auditLog } = process.env;

/** The Go programs of Kubernetes that the tests start to contend for a Lease. */
export const goPrograms = ['kube-scheduler', 'kube-controller-manager'] as const;

/**
 * Program names a program that contends for a Lease. `worker` is a Node.js program with lameduck. The other programs
 * are kube-scheduler and kube-controller-manager.
 */
export type Program = 'worker' | (typeof goPrograms)[number];

/** noAuditLog is the reason to skip a suite that needs an audit log, or false. */
export const noAuditLog =
  auditLog === undefined && 'CLUSTER_AUDIT_LOG does not name a command that prints the audit log of the API server';

/** noGoPrograms resolves with the reason to skip a suite that needs the Go programs, or with false. */
export async function noGoPrograms(): Promise<string | false> {
  const finding = goPrograms.map((program) => run(runner, 'sh', '-c', `command -v ${program}`));
  const isFound = await Promise.all(finding).catch(() => false);
  return isFound === false && `CLUSTER_RUN finds no ${goPrograms.join(' and ')}`;
}

/**
 * readHistory reads the audit log of the API server. It resolves with the periods in which each program held the Lease,
 * and with the writes that broke a rule of leader election.
 */
export async function readHistory(namespace: Namespace, name: string): Promise<History> {
  assert.ok(auditLog !== undefined);
  return historyOf(await run(auditLog), { namespace: namespace.name, name });
}

/** Contender is one process that contends for a Lease. */
export class Contender extends CommandUnderTest {
  readonly program: Program;
  /** How many times this process has become the leader. */
  terms = 0;
  /** True if the leader work of this process has logged a line since the process last became the leader. */
  isWorking = false;
  /**
   * The late writes that the Node.js program has logged. The program makes a late write on purpose, after it has lost
   * the Lease.
   */
  readonly lateWrites: JobDone[] = [];
  isContending = false;
  hasEnded = false;

  constructor(program: Program, args: readonly string[], env: Readonly<Record<string, string>>) {
    super('/bin/sh', ['-c', `exec ${runner} "$@"`, 'sh', ...args], { env });
    this.program = program;
  }
}

// The durations are short, so that another process becomes the leader a few seconds after the test has killed a leader.
const times = { 'lease-duration': '6s', 'renew-deadline': '4s', 'retry-period': '1s' };

/** Contest starts processes that contend for a Lease, and follows which of these processes leads. */
export class Contest extends EventEmitter<{ change: [] }> {
  /** The processes that have become the leader, in their order. A process that has led twice is in the list twice. */
  readonly leaders: Contender[] = [];
  /** The lines that all Node.js programs of this contest have logged so far about the work that only a leader does. */
  readonly jobs: JobDone[] = [];
  readonly #namespace: Namespace;
  readonly #folder: string;
  readonly #server: string;
  readonly #contenders = new Set<Contender>();

  /**
   * Creates a service account with the Role that docs/leader-election.md shows. Stores the address, the certificate and
   * a token of the API server for the processes that contend for the Lease.
   */
  static async create(namespace: Namespace, ...leases: readonly string[]): Promise<Contest> {
    const name = 'worker';
    await namespace.add({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
    const apiGroup = 'rbac.authorization.k8s.io';
    for (const lease of leases) {
      await namespace.add(parse(roleText({ name: lease, namespace: namespace.name })) as object);
      await namespace.add({
        apiVersion: `${apiGroup}/v1`,
        kind: 'RoleBinding',
        metadata: { name: lease },
        roleRef: { apiGroup, kind: 'Role', name: lease },
        subjects: [{ kind: 'ServiceAccount', name, namespace: namespace.name }],
      });
    }
    const config = await namespace.kubectl('config', 'view', '--raw', '--minify', '--flatten', '--output=json');
    const [named] = (JSON.parse(config) as { clusters: { cluster: Record<string, string> }[] }).clusters;
    const { server = '', 'certificate-authority-data': ca = '' } = named?.cluster ?? {};
    const folder = await mkdtemp(join(tmpdir(), 'contest-'));
    const scheduler = {
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      clientConnection: { kubeconfig: join(folder, 'kubeconfig') },
      // No pod of the cluster has this scheduler name, so the kube-scheduler of this test schedules none of these pods.
      profiles: [{ schedulerName: 'for-no-pod' }],
    };
    await writeFile(join(folder, 'kubeconfig'), config);
    await writeFile(join(folder, 'scheduler'), JSON.stringify(scheduler));
    await writeFile(join(folder, 'ca'), Buffer.from(ca, 'base64'));
    await writeFile(join(folder, 'token'), await namespace.kubectl('create', 'token', name));
    return new Contest(namespace, folder, server);
  }

  private constructor(namespace: Namespace, folder: string, server: string) {
    super();
    this.setMaxListeners(0);
    this.#namespace = namespace;
    this.#folder = folder;
    this.#server = server;
  }

  /** The processes that contend for a Lease and are still running. */
  get running(): Contender[] {
    return [...this.#contenders].filter(({ hasEnded }) => !hasEnded);
  }

  get leader(): Contender | undefined {
    return this.leaders.at(-1);
  }

  start(program: Program, lease: string): Contender {
    const [args, env] = program === 'worker' ? this.#worker(lease) : [this.#goProgram(program, lease), {}];
    const contender = new Contender(program, args, env);
    this.#contenders.add(contender);
    for (const stream of [contender.child.stdout, contender.child.stderr]) {
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => {
        this.#onLine(contender, line);
      });
    }
    void contender.exit.then(() => {
      contender.hasEnded = true;
      this.emit('change');
    });
    return contender;
  }

  /**
   * Waits until `claim()` returns true. After `seconds` seconds, it rejects with an error that contains the text `what`
   * and the last log lines of the running processes.
   */
  async until(what: string, seconds: number, claim: () => boolean): Promise<void> {
    const limit = AbortSignal.timeout(seconds * 1000);
    while (!claim()) {
      await once(this, 'change', { signal: limit }).catch(() => {
        const said = this.running.map(({ program, output }) => `${program}:\n${output.slice(-1_000)}`);
        throw new Error(`still waiting after ${String(seconds)} s: ${what}\n${said.join('\n')}`);
      });
    }
  }

  async end(): Promise<void> {
    await Promise.all([...this.#contenders].map((contender) => contender[Symbol.asyncDispose]()));
    await rm(this.#folder, { recursive: true });
  }

  #onLine(contender: Contender, line: string): void {
    if (/"msg":"leadership acquired"|"Successfully acquired lease"/.test(line)) {
      contender.terms++;
      contender.isWorking = false;
      this.leaders.push(contender);
    }
    // A Node.js program that uses lameduck's leader election logs `leader changed` when it has first read the Lease.
    if (/"msg":"leader changed"|"Attempting to acquire leader lease/.test(line)) contender.isContending = true;
    if (line.includes('"msg":"job done"')) {
      contender.isWorking = true;
      this.jobs.push(JSON.parse(line) as JobDone);
    }
    if (line.includes('"msg":"late write"')) contender.lateWrites.push(JSON.parse(line) as JobDone);
    this.emit('change');
  }

  #worker(lease: string): [string[], Record<string, string>] {
    const variables = Object.entries({ 'lease-namespace': this.#namespace.name, ...times }).map(([name, value]) => [
      `LAMEDUCK_LEADER_ELECTION_${name.toUpperCase().replaceAll('-', '_')}`,
      value,
    ]);
    const fixture = fileURLToPath(new URL('../../../fixtures/leads-beside-go.ts', import.meta.url));
    return [
      [process.execPath, fixture],
      {
        LEASE_NAME: lease,
        API_SERVER: this.#server,
        TOKEN_FILE: join(this.#folder, 'token'),
        CA_FILE: join(this.#folder, 'ca'),
        ...(Object.fromEntries(variables) as Record<string, string>),
      },
    ];
  }

  #goProgram(program: (typeof goPrograms)[number], lease: string): string[] {
    const election = { ...times, 'resource-name': lease, 'resource-namespace': this.#namespace.name };
    const own = {
      'kube-scheduler': [`--config=${join(this.#folder, 'scheduler')}`],
      // The kube-controller-manager of this test runs only ttl-controller. This controller does not disturb the
      // controllers that the cluster itself runs.
      'kube-controller-manager': [`--kubeconfig=${join(this.#folder, 'kubeconfig')}`, '--controllers=ttl-controller'],
    }[program];
    const flags = Object.entries(election).map(([name, value]) => `--leader-elect-${name}=${value}`);
    return [program, ...own, '--secure-port=0', ...flags];
  }
}
