// The events of the audit log, as lines in the vocabulary of audit.k8s.io/v1 at the level Metadata. No clock, no identifier and
// no file is touched here.
import type { Request } from '../../message.ts';

/** Stage is how far a request has come. */
export type Stage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';

/** AuditedRequest is what all events of one request have in common, as parts of a line: a line is made for every stage. */
export interface AuditedRequest {
  /** Up to the stage. */
  readonly first: string;
  /** From the stage to the status of the response. */
  readonly second: string;
  readonly received: string;
  /** The members of `annotations`, without the braces. */
  readonly annotations: string;
}

/** Outcome is what an event says about the response. */
export interface Outcome {
  /** Undefined if no status was sent. */
  readonly code?: number | undefined;
  /** Whether the connection was gone before the response was complete. */
  readonly isIncomplete?: boolean;
}

// The most characters of each field, so that a line has at most 4 096 bytes, which a pipe takes whole or not at all. A character
// has two bytes at most, and so has an escaped one.
const longestURI = 1_024;
const longestUserAgent = 256;
const longestIdentifier = 128;

// The only headers that are recorded besides the user agent.
const identifiers = ['traceparent', 'x-request-id'] as const;

const incomplete = '"lameduck/incomplete":"true"';

/** describe reads of a request what its events record. `receivedAt` is the time of day in milliseconds. */
export function describe(request: Request, auditID: string, receivedAt: number): AuditedRequest {
  const { method, headers } = request;
  const userAgent = headers['user-agent'];
  const uri = JSON.stringify(uriOf(request).slice(0, longestURI));
  const verb = JSON.stringify(textOf(method).toLowerCase());
  const agent =
    typeof userAgent === 'string' ? `,"userAgent":${JSON.stringify(userAgent.slice(0, longestUserAgent))}` : '';
  return {
    first: `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"${auditID}","stage":"`,
    second: `","requestURI":${uri},"verb":${verb},"sourceIPs":[${sourceIPOf(request)}]${agent}`,
    received: timestamp(receivedAt),
    annotations: annotationsOf(request),
  };
}

/** lineOf is the event of one stage of a request. `at` is the time of day in milliseconds. */
export function lineOf(request: AuditedRequest, stage: Stage, at: number, outcome: Outcome = {}): string {
  const { first, second, received } = request;
  const status = outcome.code === undefined ? '' : `,"responseStatus":{"code":${String(outcome.code)}}`;
  const times = `,"requestReceivedTimestamp":"${received}","stageTimestamp":"${timestamp(at)}"`;
  const separator = request.annotations === '' ? '' : ',';
  const all = outcome.isIncomplete === true ? `${request.annotations}${separator}${incomplete}` : request.annotations;
  const annotations = all === '' ? '' : `,"annotations":{${all}}`;
  return `${first}${stage}${second}${status}${times}${annotations}}\n`;
}

function annotationsOf({ headers }: Request): string {
  let annotations = '';
  for (const name of identifiers) {
    const value = headers[name];
    if (typeof value !== 'string') continue;
    annotations += `${annotations === '' ? '' : ','}"${name}":${JSON.stringify(value.slice(0, longestIdentifier))}`;
  }
  return annotations;
}

// A URL may contain secrets in its query, its fragment and its user name.
function uriOf({ url, method, headers }: Request): string {
  const path = before('#', before('?', textOf(url)));
  if (method === 'CONNECT') return afterLast('@', path || textOf(headers[':authority']));
  return path.startsWith('/') ? path : path.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '');
}

// A request that the program has made itself may have anything there.
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function before(separator: string, text: string): string {
  const at = text.indexOf(separator);
  return at === -1 ? text : text.slice(0, at);
}

function afterLast(separator: string, text: string): string {
  return text.slice(text.lastIndexOf(separator) + 1);
}

const mapped = '::ffff:';

// The peer of the connection, since anyone can send `X-Forwarded-For`. An IPv4 address that an IPv6 socket shows as mapped is
// written as IPv4.
function sourceIPOf({ socket: { remoteAddress } }: Request): string {
  if (remoteAddress === undefined) return '';
  const isMapped = remoteAddress.startsWith(mapped) && remoteAddress.includes('.');
  return JSON.stringify(isMapped ? remoteAddress.slice(mapped.length) : remoteAddress);
}

let lastAt = NaN;
let lastTimestamp = '';

// With six decimal places, which programs in Go expect of a MicroTime. Most events share their millisecond with another one.
function timestamp(at: number): string {
  if (at !== lastAt) [lastAt, lastTimestamp] = [at, new Date(at).toISOString().replace('Z', '000Z')];
  return lastTimestamp;
}
