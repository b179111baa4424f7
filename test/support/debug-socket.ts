// Sends requests to the debug socket of a program.
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Inspection } from '../../src/inspection.ts';

/** socketPath returns the path of a socket in a temporary folder. */
export function socketPath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'socket-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  return join(folder, 'lameduck.sock');
}

/** `send()` sends one request to a debug socket. It rejects if no process listens. */
export async function send(path: string, url: string, method = 'GET'): Promise<{ status: number; body: string }> {
  const sent = request({ socketPath: path, path: url, method, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: (await response.toArray()).join('') };
}

/** `inspect()` requests the JSON document from a debug socket and returns it. */
export async function inspect(path: string, url = '/'): Promise<Inspection> {
  const { status, body } = await send(path, url);
  if (status !== 200) throw new Error(`${String(status)} ${body}`);
  return JSON.parse(body) as Inspection;
}

/**
 * `inspected()` requests the document of the debug socket repeatedly, and resolves with the first document for which
 * `isSo` returns true.
 */
export async function inspected(path: string, isSo: (found: Inspection) => boolean, url = '/'): Promise<Inspection> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const found = await inspect(path, url);
    if (isSo(found)) return found;
    await setTimeout(10);
  }
  throw new Error(`not so within 1000 attempts: ${isSo.toString()}`);
}
