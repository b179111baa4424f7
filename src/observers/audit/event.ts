// Formats the events of the audit log, with the fields of audit.k8s.io/v1 at the level Metadata. No side effects: it
// uses no clock and no file.
import type { HttpRequest } from '../../message.ts';

/** Stage is a value of the field `stage` of an audit event. It says how far the request has been processed. */
export type Stage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';

/** AuditedRequest contains the parts of an audit log line that all audit events of one request have in common. */
export interface AuditedRequest {
  /** `first` is the text with which all audit log lines of this request begin, up to the value of the field `stage`. */
  readonly first: string;
  /**
   * `second` is the text between the value of `stage` and the field `responseStatus` in all audit log lines of this
   * request.
   */
  readonly second: string;
  readonly received: string;
  /** `annotations` is the content of the audit event's field `annotations` as JSON, without the surrounding braces. */
  readonly annotations: string;
}

/** Outcome contains the facts about a response that an audit event records. */
export interface Outcome {
  /** `code` is the status code. It is undefined if no status was sent. */
  readonly code?: number | undefined;
  /** isIncomplete tells whether the connection ended before the response was complete. */
  readonly isIncomplete?: boolean;
}

// The maximum number of characters of each field of an audit event. With these limits, a line has at most 4096 bytes,
// which a pipe accepts completely or not at all. Each character takes at most two bytes, even if it is escaped.
const longestVerb = 32;
const longestURI = 1_024;
const longestUserAgent = 256;
const longestIdentifier = 128;

// An audit event records the header `user-agent` and these request headers.
const identifiers = ['traceparent', 'x-request-id'] as const;

const incomplete = '"lameduck/incomplete":"true"';

/**
 * `describe()` returns the facts about a request that all its audit events record. `receivedAt` is the time of day in
 * milliseconds.
 */
export function describe(request: HttpRequest, auditID: string, receivedAt: number): AuditedRequest {
  const { method, headers } = request;
  const userAgent = headers['user-agent'];
  const uri = JSON.stringify(uriOf(request).slice(0, longestURI));
  const verb = JSON.stringify(textOf(method).slice(0, longestVerb).toLowerCase());
  const agent =
    typeof userAgent === 'string' ? `,"userAgent":${JSON.stringify(userAgent.slice(0, longestUserAgent))}` : '';
  return {
    first: `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"${auditID}","stage":"`,
    second: `","requestURI":${uri},"verb":${verb},"sourceIPs":[${sourceIPOf(request)}]${agent}`,
    received: timestamp(receivedAt),
    annotations: annotationsOf(request),
  };
}

/** lineOf returns the audit log line for one stage of a request. `at` is the time of day in milliseconds. */
export function lineOf(request: AuditedRequest, stage: Stage, at: number, outcome: Outcome = {}): string {
  const { first, second, received } = request;
  const status = outcome.code === undefined ? '' : `,"responseStatus":{"code":${String(outcome.code)}}`;
  const times = `,"requestReceivedTimestamp":"${received}","stageTimestamp":"${timestamp(at)}"`;
  const separator = request.annotations === '' ? '' : ',';
  const all = outcome.isIncomplete === true ? `${request.annotations}${separator}${incomplete}` : request.annotations;
  const annotations = all === '' ? '' : `,"annotations":{${all}}`;
  return `${first}${stage}${second}${status}${times}${annotations}}\n`;
}

function annotationsOf({ headers }: HttpRequest): string {
  let annotations = '';
  for (const name of identifiers) {
    const value = headers[name];
    if (typeof value !== 'string') continue;
    annotations += `${annotations === '' ? '' : ','}"${name}":${JSON.stringify(value.slice(0, longestIdentifier))}`;
  }
  return annotations;
}

// Removes query, fragment and user name of a URL, because they may contain secrets.
function uriOf({ url, method, headers }: HttpRequest): string {
  const path = before('#', before('?', textOf(url)));
  if (method === 'CONNECT') return afterLast('@', path || textOf(headers[':authority']));
  return path.startsWith('/') ? path : path.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '');
}

// Returns a value if it is a text, and otherwise an empty text. If the program itself has created the request, the
// value may be anything.
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

// Returns the address of the connection's peer. It does not read `X-Forwarded-For`, because any client can send this
// header. An IPv4 address in IPv6 form, such as `::ffff:10.0.0.1`, is written as IPv4.
function sourceIPOf({ socket: { remoteAddress } }: HttpRequest): string {
  if (remoteAddress === undefined) return '';
  const isMapped = remoteAddress.startsWith(mapped) && remoteAddress.includes('.');
  return JSON.stringify(isMapped ? remoteAddress.slice(mapped.length) : remoteAddress);
}

// The cache of `timestamp()`: the argument and the result of its last call.
let lastAt = NaN;
let lastTimestamp = '';

// Formats a time with six decimal places, as Go programs expect of a MicroTime. Many audit events happen in the same
// millisecond, so the function reuses the result of its last call.
function timestamp(at: number): string {
  if (at !== lastAt) [lastAt, lastTimestamp] = [at, new Date(at).toISOString().replace('Z', '000Z')];
  return lastTimestamp;
}
