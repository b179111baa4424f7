// The package's export for `node --import lameduck/register` and `node --require lameduck/register`: it gives a program the
// lifecycle without a change of its code. Every process that inherits NODE_OPTIONS loads it, so it does almost nothing until an
// HTTP server listens (P-117). It requires nothing before it has checked the version of Node, so that an old Node can load it.
import type * as DiagnosticsChannel from 'node:diagnostics_channel';
import type * as FileSystem from 'node:fs';
import type * as WorkerThreads from 'node:worker_threads';
import type * as HeldSignals from './process/held-signals.ts';
import type * as Guest from './register/guest.ts';

// Node publishes on these channels which server is about to listen, and which one has just begun to (P-112).
const startChannel = 'tracing:net.server.listen:asyncStart';
const endChannel = 'tracing:net.server.listen:asyncEnd';

// Node publishes each request on this channel. Only the first one is read, and none after a server listens.
const requests = 'http.server.request.start';

const oldest = [22, 19] as const;

if (!isSwitchedOff()) {
  const runtime = otherRuntime();
  if (runtime !== undefined) say(`${runtime} runs this program: it does nothing here`);
  else guarded(isSupported() ? preload : refuse);
}

function preload(): void {
  const { noteEarlySignals, overrideEmit } = require('./process/held-signals.ts') as typeof HeldSignals;
  overrideEmit();
  noteEarlySignals(['SIGTERM', 'SIGINT']);
  diagnostics().subscribe(startChannel, onStart);
  diagnostics().subscribe(endChannel, onListening);
  diagnostics().subscribe(requests, onRequest);
}

function refuse(): void {
  const { isMainThread } = require('node:worker_threads') as typeof WorkerThreads;
  if (isMainThread) throw new Error(`it needs Node ${oldest.join('.')} or newer, this is ${process.versions.node}`);
}

interface Message {
  readonly server: { readonly listening: boolean };
}

// Before the server listens, so that the first request does not wait for the modules to load.
function onStart(message: unknown): void {
  if (isHttp(message as Message)) guarded(load);
}

function onListening(message: unknown): void {
  const { server } = message as Message;
  if (!isHttp(message as Message)) return;
  diagnostics().unsubscribe(requests, onRequest);
  // After the program's own callbacks, which may give the server a lifecycle, or close it again.
  setImmediate(() => {
    if (server.listening) guarded(() => load()?.accommodate(server, process.env));
  });
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

// Loaded only when a server listens, because it costs each process milliseconds, and never in a thread.
function load(): typeof Guest | undefined {
  const { isMainThread } = require('node:worker_threads') as typeof WorkerThreads;
  return isMainThread ? (require('./register/guest.ts') as typeof Guest) : undefined;
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
    if (isSupported()) stop();
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    say(`stepping aside: ${reason}`);
  }
}

function stop(): void {
  diagnostics().unsubscribe(startChannel, onStart);
  diagnostics().unsubscribe(endChannel, onListening);
  diagnostics().unsubscribe(requests, onRequest);
}

function say(text: string): void {
  try {
    (require('node:fs') as typeof FileSystem).writeSync(2, `lameduck/register: ${text}\n`);
  } catch {
    // Standard error is closed.
  }
}
