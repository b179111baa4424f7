// Parses an HTTP/1.1 response from raw bytes. A response counts only when its last byte has arrived.

export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  readonly isClose: boolean;
  /** The index at which the next response begins, in the text that the client has received on this connection. */
  readonly end: number;
}

/**
 * parseAnswer parses one response, or returns undefined if it is incomplete. `hasFin` is true if the server has ended
 * the connection.
 */
export function parseAnswer(text: string, hasFin: boolean): Answer | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = text.slice(0, headEnd + 2);
  const status = Number(head.slice(9, 12));
  const body = bodyOf(text, headEnd + 4, head, status, hasFin);
  if (body === undefined) return undefined;
  return { status, head, isClose: /\r\nconnection: close\r\n/i.test(head), ...body };
}

function bodyOf(
  text: string,
  start: number,
  head: string,
  status: number,
  hasFin: boolean,
): { readonly body: string; readonly end: number } | undefined {
  const isConnected = head.startsWith('HTTP/1.1 200 Connection Established\r\n');
  if (status < 200 || status === 204 || isConnected) return { body: '', end: start };
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return chunksOf(text, start);
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1];
  if (length === undefined) return hasFin ? { body: text.slice(start), end: text.length } : undefined;
  const end = start + Number(length);
  return text.length < end ? undefined : { body: text.slice(start, end), end };
}

function chunksOf(text: string, start: number): { readonly body: string; readonly end: number } | undefined {
  let body = '';
  for (let at = start; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const dataEnd = lineEnd + 2 + size;
    if (text.length < dataEnd + 2) return undefined;
    if (text.slice(dataEnd, dataEnd + 2) !== '\r\n') throw new Error(`no chunk: ${text.slice(at, at + 20)}`);
    at = dataEnd + 2;
    if (size === 0) return { body, end: at };
    body += text.slice(lineEnd + 2, dataEnd);
  }
}
