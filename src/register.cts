// The package's export for `node --import lameduck/register` and `node --require lameduck/register`: it gives a program the
// lifecycle without a change of its code. Every process that inherits NODE_OPTIONS loads it, so it does almost nothing until an
// HTTP server listens (P-117). It requires nothing before it has checked the version of Node, so that an old Node can load it.
import type * as Cluster from 'node:cluster';
import type * as DiagnosticsChannel from 'node:diagnostics_channel';
import type * as FileSystem from 'node:fs';
import type * as Net from 'node:net';
import type * as WorkerThreads from 'node:worker_threads';
import type * as EmitOverrides from './process/emit-override.ts';
import type * as Deferrals from './register/deferral.ts';
import type * as Guest from './register/guest.ts';

// Node publishes on this channel which server has just begun to listen (P-112).
const listenings = 'tracing:net.server.listen:asyncEnd';

// Node publishes each request on this channel. Only the first one is read, and none after a server listens.
const requests = 'http.server.request.start';

const oldest = [22, 19] as const;

if (!isSwitchedOff()) {
  const runtime = otherRuntime();
  if (runtime !== undefined) say(`${runtime} runs this program: it does nothing here`);
  else guarded(isSupported() ? preload : refuse);
}

function preload(): void {
  const { emitOverride } = require('./process/emit-override.ts') as typeof EmitOverrides;
  emitOverride().noteEarlySignals(['SIGTERM', 'SIGINT']);
  diagnostics().subscribe(listenings, onListening);
  diagnostics().subscribe(requests, onRequest);
}

function refuse(): void {
  if (isMainThread()) throw new Error(`it needs Node ${oldest.join('.')} or newer, this is ${process.versions.node}`);
}

interface Message {
  readonly server: Net.Server;
}

let deferral: Deferrals.Deferral | undefined;

function onListening(message: unknown): void {
  const { server } = message as Message;
  if (!isHttp(message as Message)) {
    if (hasWorkers()) guarded(accommodatePrimary.bind(undefined, server));
    return;
  }
  diagnostics().unsubscribe(requests, onRequest);
  guarded(() => {
    defer()?.add(server);
  });
}

// Not in a thread. The steps have the order of `pieces` in scripts/build/entries.ts.
function defer(): Deferrals.Deferral | undefined {
  if (!isMainThread() || deferral !== undefined) return deferral;
  const { Deferral } = require('./register/deferral.ts') as typeof Deferrals;
  const load = [
    () => require('./settings/complete.ts') as unknown,
    () => require('./health/health.ts') as unknown,
    () => require('./http/in-flight/requests.ts') as unknown,
    () => require('./http/traffic.ts') as unknown,
    () => require('./http/drain/drain.ts') as unknown,
    () => require('./observers/metrics/metrics.ts') as unknown,
    () => require('./probe-worker/probe-port.ts') as unknown,
    () => require('./process/this-process.ts') as unknown,
    () => require('./parts.ts') as unknown,
    () => require('./manage.ts') as unknown,
    guest,
  ];
  const accommodate = (server: Net.Server): void => {
    guest().accommodate(server, process.env);
  };
  return (deferral = new Deferral({ load, accommodate, onFailure }));
}

// A primary of node:cluster listens for its workers.
function hasWorkers(): boolean {
  const { workers } = require('node:cluster') as Cluster.Cluster;
  return Object.keys(workers ?? {}).length > 0;
}

// Not deferred: the listener of the primary answers no request.
function accommodatePrimary(server: Net.Server): void {
  if (isMainThread()) guest().accommodatePrimary(server, process.env);
}

function isMainThread(): boolean {
  return (require('node:worker_threads') as typeof WorkerThreads).isMainThread;
}

function guest(): typeof Guest {
  return require('./register/guest.ts') as typeof Guest;
}

function onRequest(message: unknown): void {
  diagnostics().unsubscribe(requests, onRequest);
  const { server } = message as Message;
  if (!server.listening)
    say('a server that does not listen gets requests: it gets no lifecycle, because it has to listen itself');
}

// Nothing is loaded for a server of node:net, which has no such method.
function isHttp({ server }: Message): boolean {
  return 'setTimeout' in server;
}

function diagnostics(): typeof DiagnosticsChannel {
  return require('node:diagnostics_channel') as typeof DiagnosticsChannel;
}

// As in process/runtime.ts, which is not loaded yet. Both runtimes report a version of Node.
function otherRuntime(): string | undefined {
  const { bun, deno } = process.versions;
  if (bun !== undefined) return 'Bun';
  return deno === undefined ? undefined : 'Deno';
}

function isSupported(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

// As in settings/environment.ts, which is not loaded yet.
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
  say(`stepping aside: ${reason}`);
}

function stop(): void {
  diagnostics().unsubscribe(listenings, onListening);
  diagnostics().unsubscribe(requests, onRequest);
}

function say(text: string): void {
  try {
    (require('node:fs') as typeof FileSystem).writeSync(2, `lameduck/register: ${text}\n`);
  } catch {
    // Standard error is closed.
  }
}
