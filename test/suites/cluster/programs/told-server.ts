// A server whose behavior is set by environment variables. It logs its start, each probe with its response, SIGTERM and
// its end, all with times. The same program runs in a pod and in a rehearsal. It imports only Node.
//
//   NAME          the name of the container
//   PORT          the port on which it listens; if unset, it does not listen
//   KIND          http (default), grpc or tcp
//   LISTEN_AFTER  milliseconds until it listens
//   ANSWERS       responses by path, each from a number of milliseconds after the start on:
//                 /ready=0:503,4000:200;/hook=0:200/1700
//                 A response is a status, `hang`, `stall` (a body that does not end) or `redirect` (to another host).
//                 The number after the slash is the delay of the response in milliseconds.
//   EXIT          exits without a signal: 2000:3 means exit code 3 after two seconds
//   ON_SIGTERM    milliseconds from SIGTERM to the exit, or `ignore`; if unset, it has no handler
//   FILL          megabytes that it writes into /fill after six seconds
//   LOG           a file for the log; default: standard output
//
//   told-server.ts check PATH   the command of an exec probe or hook: gets PATH from the server, exits with 0 after a 200
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, get, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';

const {
  NAME = 'app',
  PORT,
  KIND = 'http',
  LISTEN_AFTER = '0',
  ANSWERS = '',
  EXIT,
  ON_SIGTERM,
  FILL,
  LOG,
} = process.env;
const startedAt = Date.now();

/** One line of the server's log. */
export interface Line {
  readonly at: number;
  readonly container: string;
  /** The time at which this run of the container started. */
  readonly startedAt: number;
  readonly what: 'start' | 'listening' | 'probe' | 'SIGTERM' | 'alive' | 'exit';
  /** The path of a probe, without its leading slash. */
  readonly probe?: string;
  readonly answer?: string;
}

function log(what: Line['what'], rest: Partial<Line> = {}): void {
  const line: Line = { at: Date.now(), container: NAME, startedAt, what, ...rest };
  appendFileSync(LOG ?? 1, `${JSON.stringify(line)}\n`);
}

function ruleOf(path: string): string {
  const rule = ANSWERS.split(';').find((one) => one.startsWith(`${path}=`));
  const steps = (rule?.slice(path.length + 1) ?? '0:200').split(',').map((step) => step.split(':'));
  const since = Date.now() - startedAt;
  return steps.findLast(([from]) => Number(from) <= since)?.[1] ?? '200';
}

// answerTo returns the response to a probe or hook, and logs it. It does not log other requests, such as those of a
// rehearsal's clients.
function answerTo(path: string): [answer: string, afterMs: number] {
  const [answer = '', afterMs = '0'] = ruleOf(path).split('/');
  log('probe', { probe: path.slice(1), answer });
  return [answer, Number(afterMs)];
}

function onHttp(path: string, response: ServerResponse): void {
  if (path === '/') {
    response.end();
    return;
  }
  const [answer, afterMs] = answerTo(path);
  if (answer === 'hang') return;
  if (answer === 'stall') {
    response.writeHead(200, { 'Content-Length': 10 }).write('a');
    return;
  }
  const isRedirect = answer === 'redirect';
  response.writeHead(isRedirect ? 302 : Number(answer), isRedirect ? { Location: 'http://example.com/' } : {});
  setTimeout(() => response.end(), afterMs);
}

// In grpc.health.v1, SERVING is 1 and NOT_SERVING is 2. The server uses the service name in the request as the path of
// a health endpoint.
function grpcServer() {
  const server = createHttp2Server();
  server.on('stream', (stream) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined).on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const [answer] = answerTo(`/${Buffer.concat(chunks).subarray(7).toString()}`);
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => {
        stream.sendTrailers({ 'grpc-status': '0' });
      });
      stream.end(Buffer.from([0, 0, 0, 0, 2, 8, answer === '200' ? 1 : 2]));
    });
  });
  return server;
}

const servers = {
  http: () =>
    createHttpServer((request, response) => {
      onHttp(request.url ?? '', response);
    }),
  grpc: grpcServer,
  tcp: () =>
    createTcpServer((socket) => {
      answerTo('/tcp');
      socket.on('error', () => undefined).end();
    }),
};

function serve(): void {
  log('start');
  process.on('exit', () => {
    log('exit');
  });
  const beat = () => setInterval(log, 20, 'alive');
  if (ON_SIGTERM === undefined) beat();
  else {
    process.on('SIGTERM', () => {
      log('SIGTERM');
      if (ON_SIGTERM === 'ignore') beat();
      else setTimeout(() => process.exit(), Number(ON_SIGTERM));
    });
  }
  if (EXIT !== undefined) {
    const [afterMs, code] = EXIT.split(':').map(Number);
    setTimeout(() => process.exit(code), afterMs);
  }
  if (FILL !== undefined) {
    setTimeout(() => {
      writeFileSync('/fill/file', Buffer.alloc(Number(FILL) * 2 ** 20, 1));
    }, 6000);
  }
  if (PORT === undefined) setInterval(() => undefined, 1000);
  else {
    setTimeout(() => {
      servers[KIND as keyof typeof servers]().listen(Number(PORT), () => {
        log('listening');
      });
    }, Number(LISTEN_AFTER));
  }
}

function check(path: string): void {
  const request = get({ port: PORT, path }, (response) => {
    response.resume();
    process.exitCode = response.statusCode === 200 ? 0 : 1;
  });
  request.on('error', ({ message }) => {
    console.log(message);
    process.exitCode = 1;
  });
}

const [, , command, path = '/'] = process.argv;
if (command === 'check') check(path);
else serve();
