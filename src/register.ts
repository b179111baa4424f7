// The package's export for `node --import lameduck/register`: the lifecycle for a program that changes no line. It is loaded
// into every process that inherits NODE_OPTIONS, so until an HTTP server listens it does as good as nothing (P-117).
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { overrideEmit } from './process/held-signals.ts';
import type * as Guest from './register/guest.ts';

// Node says there which server has just begun to listen (P-112).
const channel = 'tracing:net.server.listen:asyncEnd';

const oldest = [22, 19] as const;

if (!isSwitchedOff()) guarded(preload);

function preload(): void {
  if (isSupported()) overrideEmit();
  // Where Node does not say it yet, the first request does.
  else subscribe('http.server.request.start', onListening);
  subscribe(channel, onListening);
}

function onListening(message: unknown): void {
  const { server } = message as { readonly server: { readonly listening: boolean } };
  // A server of node:net has none, and nothing is loaded for it.
  if (!('setTimeout' in server)) return;
  // Behind the program's own callbacks, which may give the server a lifecycle, or close it again.
  setImmediate(() => {
    if (server.listening) guarded(() => accommodate(server));
  });
}

function accommodate(server: object): void {
  if (!isSupported()) throw new Error(`Node ${process.versions.node} is too old, ${oldest.join('.')} is the oldest`);
  // Loaded only now, since they cost each process milliseconds.
  const { isMainThread } = process.getBuiltinModule('node:worker_threads');
  if (!isMainThread) return;
  const { createRequire } = process.getBuiltinModule('node:module');
  const load = createRequire(import.meta.url);
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const guest = load(`./register/guest.${extension}`) as typeof Guest;
  guest.accommodate(server, process.env);
}

function isSupported(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

// As in settings/environment.ts, of which nothing is loaded yet.
function isSwitchedOff(): boolean {
  return /^\s*(1|true)\s*$/i.test(process.env['LAMEDUCK_DISABLED'] ?? '');
}

function guarded(attempt: () => void): void {
  try {
    attempt();
  } catch (error) {
    unsubscribe(channel, onListening);
    unsubscribe('http.server.request.start', onListening);
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    say(`stepping aside: ${reason}`);
  }
}

function say(text: string): void {
  try {
    writeSync(2, `lameduck/register: ${text}\n`);
  } catch {
    // Nobody reads it.
  }
}
