// The package's export `lameduck/register`, for `node --import` and `node --require`: it gives a program the lifecycle
// without a change of its code. Every process that inherits NODE_OPTIONS loads it, so this file does almost nothing
// until an HTTP server listens (P-117). It first checks the version of Node and loads other files only after that, so
// that an old Node can load this file too.
import type { ChildProcess } from 'node:child_process';
import type * as Cluster from 'node:cluster';
import type * as DiagnosticsChannel from 'node:diagnostics_channel';
import type * as FileSystem from 'node:fs';
import type * as Net from 'node:net';
import type * as WorkerThreads from 'node:worker_threads';
import type * as EmitOverrides from './process/emit-override.ts';
import type * as Deferrals from './register/deferral.ts';
import type * as ProgramLifecycles from './register/program-lifecycle.ts';

// The diagnostics channel on which Node publishes each server that has just begun to listen (P-112).
const listenings = 'tracing:net.server.listen:asyncEnd';

// The diagnostics channel on which Node publishes each HTTP request. This file looks only at the first request. If that
// request reached a server that does not listen, lameduck logs a warning.
const requests = 'http.server.request.start';

// The diagnostics channel on which Node publishes each child process that is created.
const children = 'child_process';

const oldest = [22, 19] as const;

if (!isSwitchedOff()) {
  const runtime = otherRuntime();
  if (runtime !== undefined) say(`disabled: ${runtime} runs this program, and only Node is supported`);
  else guarded(isSupported() ? preload : refuse);
}

function preload(): void {
  const { emitOverride } = require('./process/emit-override.ts') as typeof EmitOverrides;
  emitOverride().noteEarlySignals(['SIGTERM', 'SIGINT']);
  diagnostics().subscribe(listenings, onListening);
  diagnostics().subscribe(requests, onRequest);
  diagnostics().subscribe(children, onChild);
}

function refuse(): void {
  if (isMainThread()) throw new Error(`expected Node ${oldest.join('.')} or newer, got ${process.versions.node}`);
}

interface Message {
  readonly server: Net.Server;
}

// The Deferral and the ProgramLifecycle that this file has created so far. Node evaluates this file once in each
// thread, so each thread has objects of its own.
const created: { deferral?: Deferrals.Deferral; lifecycle?: ProgramLifecycles.ProgramLifecycle } = {};

function onListening(message: unknown): void {
  const { server } = message as Message;
  if (!isHttp(message as Message)) {
    if (hasWorkers()) guarded(addPrimary.bind(undefined, server));
    return;
  }
  diagnostics().unsubscribe(requests, onRequest);
  guarded(() => {
    defer()?.add(server);
  });
}

// Returns the Deferral of this process, which loads the code of the lifecycle a short time after `listen()`. In a
// worker thread, returns undefined. The functions in `load` load the modules that `pieces` of scripts/build/entries.ts
// lists, in the same order.
function defer(): Deferrals.Deferral | undefined {
  if (!isMainThread() || created.deferral !== undefined) return created.deferral;
  const { Deferral } = require('./register/deferral.ts') as typeof Deferrals;
  const load = [
    () => require('./clock.ts') as unknown,
    () => require('./settings/complete.ts') as unknown,
    () => require('./health/health.ts') as unknown,
    () => require('./http/in-flight/requests.ts') as unknown,
    () => require('./http/traffic.ts') as unknown,
    () => require('./http/drain/drain.ts') as unknown,
    () => require('./observers/metrics/lifecycle-metrics.ts') as unknown,
    () => require('./probe-worker/probe-port.ts') as unknown,
    () => require('./process/this-process.ts') as unknown,
    () => require('./parts.ts') as unknown,
    () => require('./manage.ts') as unknown,
    lifecycle,
  ];
  const addToLifecycle = (server: Net.Server): void => {
    lifecycle().add(server);
  };
  return (created.deferral = new Deferral({ load, addToLifecycle, onFailure }));
}

// Tells whether this process is a primary of node:cluster that has workers. In such a primary, node:cluster itself
// opens listening sockets for the workers. So a server of node:net that begins to listen may belong to node:cluster and
// not to the program.
function hasWorkers(): boolean {
  const { workers } = require('node:cluster') as Cluster.Cluster;
  return Object.keys(workers ?? {}).length > 0;
}

// A primary of node:cluster usually gets its lifecycle when it begins to listen for its workers. It does not listen if
// it has set SCHED_NONE, or if its workers listen with `exclusive` or `reusePort`. Such a primary gets its lifecycle at
// the message `hello` (src/process/group-messages.ts), which each worker with a lifecycle sends. Node reports this
// message with the event `internalMessage`. Without this event, such a primary has no lifecycle.
function onChild(message: unknown): void {
  const { process: child } = message as { readonly process: ChildProcess };
  child.on('internalMessage', (internal: { readonly cmd?: unknown; readonly kind?: unknown } | null) => {
    if (internal?.cmd === 'NODE_LAMEDUCK' && internal.kind === 'hello') guarded(addPrimary);
  });
}

// Load the lifecycle at once. A primary of node:cluster answers no requests itself, so the loading cannot delay a
// response.
function addPrimary(listener?: Net.Server): void {
  if (isMainThread()) lifecycle().addPrimary(listener);
}

function isMainThread(): boolean {
  return (require('node:worker_threads') as typeof WorkerThreads).isMainThread;
}

// Returns the lifecycle of the program. It loads the class at the first call.
function lifecycle(): ProgramLifecycles.ProgramLifecycle {
  const { ProgramLifecycle } = require('./register/program-lifecycle.ts') as typeof ProgramLifecycles;
  return (created.lifecycle ??= new ProgramLifecycle(process.env));
}

function onRequest(message: unknown): void {
  diagnostics().unsubscribe(requests, onRequest);
  const { server } = message as Message;
  if (!server.listening)
    say(
      'a server gets requests but does not listen: lameduck neither drains it nor counts its requests until it listens',
    );
}

// Tells whether a server is an HTTP server. An HTTP server has the method `setTimeout`, and a server of node:net does
// not. So this function need not load a module for the check.
function isHttp({ server }: Message): boolean {
  return 'setTimeout' in server;
}

function diagnostics(): typeof DiagnosticsChannel {
  return require('node:diagnostics_channel') as typeof DiagnosticsChannel;
}

// Returns the name of the runtime if it is not Node. Both Bun and Deno also report a version of Node. This function
// repeats `otherRuntime` of process/runtime.ts, because it runs before that file is loaded.
function otherRuntime(): string | undefined {
  const { bun, deno } = process.versions;
  if (bun !== undefined) return 'Bun';
  return deno === undefined ? undefined : 'Deno';
}

function isSupported(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

// Tells whether the environment disables lameduck. This function repeats `isDisabled` of settings/environment.ts,
// because it runs before that file is loaded.
function isSwitchedOff(): boolean {
  return /^\s*(1|true)\s*$/i.test(process.env['LAMEDUCK_DISABLED'] ?? '');
}

function guarded(attempt: () => void): void {
  try {
    attempt();
  } catch (error) {
    onFailure(error);
  }
}

function onFailure(error: unknown): void {
  if (isSupported()) stop();
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  say(`disabled: ${reason}`);
}

function stop(): void {
  diagnostics().unsubscribe(listenings, onListening);
  diagnostics().unsubscribe(requests, onRequest);
  diagnostics().unsubscribe(children, onChild);
}

function say(text: string): void {
  try {
    (require('node:fs') as typeof FileSystem).writeSync(2, `lameduck/register: ${text}\n`);
  } catch {
    // Ignore the error of `writeSync()`: standard error is closed, so the message cannot be written.
  }
}
