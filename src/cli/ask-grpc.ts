// Sends one request to a gRPC health service over `node:http2` without TLS. Import this file only when needed,
// because loading `node:http2` is slow.
import { connect, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { hostAndPort } from '../address.ts';
import { systemClock } from '../clock.ts';
import { inTurn, longestAnswer, type Place, type Unanswered } from './ask.ts';
import { requestOf, statusIn } from './health-message.ts';

/**
 * GrpcOutcome is the result of a gRPC health check. If `kind` is `said`, the server has responded. `failure` then says
 * why the check failed, or is undefined if the service is serving.
 */
export type GrpcOutcome = { readonly kind: 'said'; readonly failure: string | undefined } | Unanswered;

type Headers = IncomingHttpHeaders & { readonly ':status'?: number | undefined };

/** GrpcQuestion describes a request for the health of one gRPC service. */
export interface GrpcQuestion extends Place {
  readonly service: string;
  /** userAgent is the header `user-agent` of the request. The default is `lameduck-probe`. */
  readonly userAgent?: string;
}

/**
 * askGrpc sends the health check to the first host that can be reached. It resolves at `limit` at the latest, and
 * never rejects.
 */
export function askGrpc({ hosts, ...question }: GrpcQuestion): Promise<GrpcOutcome> {
  return inTurn(hosts, (host) => askHost(host, question));
}

function askHost(
  host: string,
  { service, port, limit, userAgent = 'lameduck-probe' }: Omit<GrpcQuestion, 'hosts'>,
): Promise<GrpcOutcome> {
  return new Promise((resolve) => {
    let isReached = false;
    const socket = connectSocket({ host, port });
    // Add the error listener to the socket before the HTTP/2 session adds its own. The session would replace a socket
    // error with an error of its own.
    socket.on('error', ({ message }) => {
      fail(message, message);
    });
    const session = connect('http://localhost', { createConnection: () => socket });
    const end = (outcome: GrpcOutcome): void => {
      cancel();
      session.destroy();
      resolve(outcome);
    };
    const fail = (failure: string, reason = 'the peer does not speak HTTP/2 without TLS'): void => {
      end(isReached ? { kind: 'said', failure } : { kind: 'unreachable', reason });
    };
    const cancel = systemClock.after(Math.max(0, limit - systemClock.now()), () => {
      end({ kind: 'late' });
    });
    // Every HTTP/2 peer sends a SETTINGS frame first, so a peer that has sent this frame uses HTTP/2.
    session.once('remoteSettings', () => {
      isReached = true;
    });
    session.on('goaway', (code: number) => {
      if (code !== 0) fail(`GOAWAY with error code ${String(code)}`);
    });
    session.on('error', ({ message }: Error) => {
      fail(message);
    });
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      ':authority': hostAndPort(host, port),
      'content-type': 'application/grpc',
      'user-agent': userAgent,
      te: 'trailers',
    });
    stream.end(requestOf(service));
    readAnswer(stream, fail, (failure) => {
      end({ kind: 'said', failure });
    });
  });
}

function readAnswer(
  stream: ClientHttp2Stream,
  fail: (failure: string) => void,
  judge: (failure: string | undefined) => void,
): void {
  let headers: Headers = {};
  let trailers: Headers = {};
  let body = Buffer.alloc(0);
  stream.on('response', (said) => {
    headers = said;
  });
  stream.on('trailers', (said: Headers) => {
    trailers = said;
  });
  stream.on('data', (chunk: Buffer) => {
    body = Buffer.concat([body, chunk]);
    if (body.length > longestAnswer) judge('the answer is too long');
  });
  let isWhole = false;
  stream.on('end', () => {
    isWhole = true;
  });
  stream.on('error', ({ message }: Error) => {
    fail(message);
  });
  // Decide on the result when the stream emits `close`. When the stream emits `end`, it is not yet known whether the
  // peer has reset the stream.
  stream.on('close', () => {
    if (isWhole && stream.rstCode === 0 && headers[':status'] !== undefined) judge(failureIn(headers, trailers, body));
    else fail('the stream ended without an answer');
  });
}

function failureIn(headers: Headers, trailers: Headers, body: Buffer): string | undefined {
  const { ':status': status, 'content-type': type = '' } = headers;
  if (status !== 200) return `status ${String(status)}`;
  if (!/^application\/grpc(\+proto)?\s*(;|$)/i.test(type)) return 'the peer does not speak gRPC';
  // A gRPC response without a body has its `grpc-status` in the headers, not in trailers.
  const code = (body.length === 0 ? { ...headers, ...trailers } : trailers)['grpc-status'];
  if (typeof code !== 'string' || !/^\d{1,3}$/.test(code)) return 'the answer is malformed';
  if (Number(code) !== 0) return meanings[Number(code)] ?? `grpc-status ${code}`;
  const said = statusIn(body) ?? 'the answer is malformed';
  return said === 'SERVING' ? undefined : said;
}

// The texts for the gRPC status codes 5, NOT_FOUND, and 12, UNIMPLEMENTED. Other codes are shown as numbers.
const meanings: Readonly<Record<number, string>> = { 5: 'unknown service', 12: 'there is no health service' };
