// The probe thread. It serves the probe port and the debug socket, if they are configured, and watches the main thread.
// It ends after the message `close`.
import type { Server } from 'node:http';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { addressText } from '../address.ts';
import { systemClock, threadTime } from '../clock.ts';
import { messageOf } from '../errors.ts';
import { notFound } from '../health/endpoint.ts';
import { kill } from '../process/send-signal.ts';
import { isLogged } from '../settings/log-level.ts';
import { isAttached, isPaused } from './debugger.ts';
import { beatInterval, idleBeatInterval } from './heartbeat.ts';
import { BlockedProcessEnd } from './blocked-process-end.ts';
import { DebugSocket } from './debug-socket.ts';
import { createListener } from './listener.ts';
import { mainStack } from './main-stack.ts';
import type { FromThread, ThreadData, ToThread } from './messages.ts';
import { writeBeside } from './output.ts';
import { Questions } from './questions.ts';
import { Responder } from './responder.ts';
import { SharedState } from './shared-state.ts';
import { stallLine } from './stall-report.ts';
import { StallWatch } from './stall-watch.ts';
import { listenOn } from './unix-listener.ts';

// How long the probe thread may take to send its last answers after the message `close`, in milliseconds.
const longestClose = 1_000;

const main = parentPort as MessagePort;
const data = workerData as ThreadData;
const { readyzStallLimit, livezStallLimit, checkTimeout } = data;
const state = new SharedState(data.memory);

const questions = new Questions(
  systemClock,
  (id, { url, method }) => {
    say({ kind: 'question', id, url, method });
  },
  () => state.get('taken'),
);
const watch = new StallWatch({
  clock: systemClock,
  state,
  isAttached: hasDebugger,
  threshold: Math.min(readyzStallLimit || Infinity, livezStallLimit || Infinity),
  onStall: (stalledMs) => {
    if (isLogged('warn', data.logLevel)) unwrittenLine = stallLine(stalledMs, data);
    writeStallLine();
  },
  onStallEnd: (stalledMs) => {
    writeStallLine();
    unwrittenLine = '';
    say({ kind: 'stall ended', stalledMs });
  },
});
const responder = new Responder({
  clock: systemClock,
  questions,
  readyzStallLimit,
  livezStallLimit,
  checkTimeout,
  stalledMs: () => watch.stalledMs,
  isShuttingDown: () => state.get('isShuttingDown') === 1,
});
const server = data.port === 0 ? undefined : createListener((url, method) => responder.respond(url, method));

const debugSocket = new DebugSocket({
  clock: systemClock,
  ask: (id, action) => {
    say({ kind: 'inspect', id, action });
  },
  stalledMs: () => watch.stalledMs,
  async stack() {
    if (!data.debugSocketStack) throw new Error('debugSocketStack is not set');
    if (hasDebugger()) throw new Error('a debugger is attached');
    return mainStack();
  },
});
const debugServer = createListener((url, method) => debugSocket.respond(url, method));
let removeSocket = (): void => undefined;

const blockedEnd = new BlockedProcessEnd({
  clock: systemClock,
  state,
  stalledMs: () => watch.stalledMs,
  write: (line) => data.logLevel === 'silent' || writeBeside(line),
  terminationMessagePath: data.terminationMessagePath,
  logFormat: data.logFormat,
  isAttached: hasDebugger,
  isPaused,
  kill,
});

let isClosing = false;
// isResting is true while the process is idle. The probe thread then checks the heartbeats of the main thread less
// often, so that the probe thread is rarely woken.
let isResting = false;
let cancelLook = (): void => undefined;
// The log line about a stall that has not been written yet, or an empty text. The line cannot be written while standard
// output is a full pipe. The full pipe may also be the reason why the event loop is blocked (P-060).
let unwrittenLine = '';

function hasDebugger(): boolean {
  return isAttached(state.get('inspectorPort'));
}

function writeStallLine(): void {
  if (unwrittenLine !== '' && writeBeside(unwrittenLine)) unwrittenLine = '';
}

function look(): void {
  if (isClosing) return;
  const before = watch.stalledMs;
  // The main thread of an idle process sends heartbeats rarely. If no new heartbeat has arrived, count only the last
  // `beatInterval` milliseconds as blocked. Before that, the main thread may have been idle between two heartbeats.
  watch.tick(isResting ? beatInterval : undefined);
  writeStallLine();
  blockedEnd.tick();
  if (before === 0 && watch.stalledMs > 0) say({ kind: 'ping' });
  lookLater();
}

function lookLater(): void {
  const isIdle = state.get('beatInterval') === idleBeatInterval && state.get('isShuttingDown') === 0;
  isResting = isIdle && watch.stalledMs === 0;
  // In an idle process, the interval between two checks of the probe thread is longer than the interval between two
  // heartbeats of the main thread. So if a check finds no new heartbeat, a heartbeat is late.
  const interval = isResting ? idleBeatInterval + beatInterval : beatInterval;
  cancelLook = systemClock.afterUnref(Math.min(interval, blockedEnd.dueIn), look);
}

function noteShutdown(message: ToThread & { readonly kind: 'shutdown' }): void {
  blockedEnd.note(message, threadTime() - message.saidAt);
  if (!isResting) return;
  cancelLook();
  look();
}

function say(message: FromThread): void {
  main.postMessage(message);
}

// Ends the probe thread after it has sent all pending responses. Until then, the message port to the main thread stays
// open.
function close(): void {
  isClosing = true;
  removeSocket();
  debugServer.close();
  debugServer.closeAllConnections();
  if (server === undefined) {
    main.close();
    return;
  }
  server.close(() => {
    main.close();
  });
  systemClock.afterUnref(longestClose, () => {
    server.closeAllConnections();
  });
}

function listen(listener: Server): void {
  listener.on('error', ({ message }) => {
    // The server also emits an error if it cannot accept a connection, for example because of too many open files. It
    // still listens then, so ignore this error.
    if (listener.listening) return;
    say({ kind: 'failed', message });
    close();
  });
  listener.listen({ port: data.port, ...(data.host === undefined ? {} : { host: data.host }) }, () => {
    say({ kind: 'listening', address: addressText(listener.address()) });
  });
}

async function listenOnSocket(path: string): Promise<void> {
  try {
    removeSocket = await listenOn(debugServer, path);
    debugServer.on('error', () => undefined);
    say({ kind: 'socket listening' });
  } catch (error) {
    say({ kind: 'socket failed', message: messageOf(error) });
  }
}

main.on('message', (message: ToThread) => {
  if (message.kind === 'answer') questions.answer(message.id, message.answer ?? notFound, message.tookMs);
  else if (message.kind === 'facts') debugSocket.note(message.id, message.facts, threadTime() - message.saidAt);
  else if (message.kind === 'shutdown') noteShutdown(message);
  else close();
});
if (server !== undefined) listen(server);
if (data.debugSocketPath !== '') void listenOnSocket(data.debugSocketPath);
lookLater();
