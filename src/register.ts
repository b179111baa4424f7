// The package's export for `node --import lameduck/register`: the lifecycle for a program that changes no line. It is loaded
// into every process that inherits NODE_OPTIONS, so until an HTTP server listens it does as good as nothing (P-117).
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { overrideEmit } from './process/held-signals.ts';
import type * as Guest from './register/guest.ts';

// Node says there which server has just begun to listen, before the program is told (P-112).
const channel = 'tracing:net.server.listen:asyncEnd';

const oldest = [22, 19] as const;

if (isMainThread && !isSwitchedOff()) preload();

function preload(): void {
  if (isSupported()) overrideEmit();
  // Where Node does not say it yet, the first request does.
  else subscribe('http.server.request.start', onListening);
  subscribe(channel, onListening);
}

function onListening(message: unknown): void {
  const { server } = message as { readonly server: object };
  // A server of node:net has none, and nothing is loaded for it.
  if (!('setTimeout' in server)) return;
  try {
    if (!isSupported()) throw new Error(`Node ${process.versions.node} is too old, ${oldest.join('.')} is the oldest`);
    // Only now, and at once: a server that listens can be sent a process signal.
    const load = createRequire(import.meta.url);
    const { accommodate } = load(`./register/guest${extname(import.meta.url)}`) as typeof Guest;
    accommodate(server, process.env);
  } catch (error) {
    unsubscribe(channel, onListening);
    say(`stepping aside: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isSupported(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

// As in settings/environment.ts, of which nothing is loaded yet.
function isSwitchedOff(): boolean {
  return /^\s*(1|true)\s*$/i.test(process.env['LAMEDUCK_DISABLED'] ?? '');
}

function say(text: string): void {
  try {
    writeSync(2, `lameduck/register: ${text}\n`);
  } catch {
    // Nobody reads it.
  }
}
