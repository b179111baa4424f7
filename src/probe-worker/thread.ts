// The probe thread: it serves the probe port, if there is one, and watches the main thread. It ends at the message `close`.
import type { Server } from 'node:http';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { addressText } from '../address.ts';
import { systemClock, threadTime } from '../clock.ts';
import { notFound } from '../health/endpoint.ts';
import { kill } from '../process/kill.ts';
import { isAttached, isPaused } from './debugger.ts';
import { beatInterval } from './heartbeat.ts';
import { LastWords } from './last-words.ts';
import { createListener } from './listener.ts';
import type { FromThread, ThreadData, ToThread } from './messages.ts';
import { writeBeside } from './output.ts';
import { Questions } from './questions.ts';
import { Responder } from './responder.ts';
import { SharedState } from './shared-state.ts';
import { stallLine } from './stall-report.ts';
import { StallWatch } from './stall-watch.ts';

// How long the thread waits for its last answers at the message `close`, in milliseconds.
const lastAnswers = 1_000;

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
    unsaid = stallLine(stalledMs, data);
    tellOfStall();
  },
  onStallEnd: (stalledMs) => {
    tellOfStall();
    unsaid = '';
    say({ kind: 'stall ended', stalledMs });
  },
});
const responder = new Responder({
  ...{ clock: systemClock, questions, readyzStallLimit, livezStallLimit, checkTimeout },
  stalledMs: () => watch.stalledMs,
  isShuttingDown: () => state.get('isShuttingDown') === 1,
});
const server = data.port === 0 ? undefined : createListener((url, method) => responder.respond(url, method));

const lastWords = new LastWords({
  ...{ clock: systemClock, state, stalledMs: () => watch.stalledMs, write: writeBeside },
  ...{ terminationMessagePath: data.terminationMessagePath, isAttached: hasDebugger, isPaused, kill },
});

let isPinged = false;
let isClosing = false;
// The line about a stall that is still to be written: a full pipe may be what blocks the event loop (P-060).
let unsaid = '';

function hasDebugger(): boolean {
  return isAttached(state.get('inspectorPort'));
}

function tellOfStall(): void {
  if (unsaid !== '' && writeBeside(unsaid)) unsaid = '';
}

function look(): void {
  if (isClosing) return;
  watch.tick();
  tellOfStall();
  lastWords.tick();
  if (watch.stalledMs === 0) isPinged = false;
  else if (!isPinged) {
    isPinged = true;
    say({ kind: 'ping' });
  }
  lookLater();
}

function lookLater(): void {
  systemClock.afterUnref(Math.min(beatInterval, lastWords.dueIn), look);
}

function say(message: FromThread): void {
  main.postMessage(message);
}

// The port to the main thread stays open until the last answer has been sent.
function close(): void {
  isClosing = true;
  if (server === undefined) {
    main.close();
    return;
  }
  server.close(() => {
    main.close();
  });
  systemClock.afterUnref(lastAnswers, () => {
    server.closeAllConnections();
  });
}

function listen(listener: Server): void {
  listener.on('error', ({ message }) => {
    // A failed accept, for example with too many open files, is also an error. The server still listens.
    if (listener.listening) return;
    say({ kind: 'failed', message });
    close();
  });
  listener.listen({ port: data.port, ...(data.host === undefined ? {} : { host: data.host }) }, () => {
    say({ kind: 'listening', address: addressText(listener.address()) });
  });
}

main.on('message', (message: ToThread) => {
  if (message.kind === 'answer') questions.answer(message.id, message.answer ?? notFound, message.tookMs);
  else if (message.kind === 'shutdown') lastWords.note(message, threadTime() - message.saidAt);
  else close();
});
if (server !== undefined) listen(server);
lookLater();
