// Helpers for tests of event streams: a function with which a request handler starts an event stream, and clients that
// open event streams.
import type { ServerResponse } from 'node:http';
import type { Client, Serving } from './serving.ts';
import { until } from './until.ts';

/** openEventStream sends the head of an event stream and its first event. */
export function openEventStream(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.write('data: first\n\n');
}

/** eventSource is the header with which an `EventSource` requests an event stream. */
export const eventSource = 'Accept: text/event-stream\r\n';

/** `watching()` opens `count` event streams, one after another. It waits until each has received an event. */
export async function watching(serving: Serving, count: number, path = '/events'): Promise<Client[]> {
  const clients: Client[] = [];
  for (let index = 0; index < count; index++) {
    const client = await serving.dial();
    client.get(path, eventSource);
    clients.push(client);
    await until(() => client.reader.received > 0);
  }
  return clients;
}
