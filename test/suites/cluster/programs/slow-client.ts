// Reads two large responses slowly: one on a keep-alive connection, and one on a connection on which it has sent a FIN.
// Logs when it has begun to read both. At the end, logs how many bytes of each response are missing.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** One line that this client prints about one response. */
export interface Read {
  readonly type: 'begun' | 'read';
  readonly response: string;
  readonly missing: number;
}

/**
 * How many bytes the client reads per millisecond. At this rate, a response takes 19 seconds. During the last twelve of
 * these seconds, the unread part of the response is in buffers of the server's kernel.
 */
const bytesPerMillisecond = 80;

// If no byte of a response arrives for this many milliseconds, the client stops reading and counts the rest of the
// response as missing. The rest cannot arrive after the network interface of the server's pod is removed.
const patience = 5_000;

const [perHost = '', ...hosts] = process.argv.slice(2);

async function read(host: string, isHalfClosed: boolean): Promise<void> {
  const socket = connect({ host, port: 8080, allowHalfOpen: true });
  await once(socket, 'connect');
  socket.on('error', () => undefined).setTimeout(patience, () => socket.destroy());
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  if (isHalfClosed) socket.end();
  const response = `${host}, ${isHalfClosed ? 'half-closed' : 'kept'}`;
  const say = (type: Read['type'], missing: number) => {
    console.log(JSON.stringify({ type, response, missing } satisfies Read));
  };
  let missing = Infinity;
  let head = '';
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      await pause(chunk.length / bytesPerMillisecond);
      missing -= chunk.length;
      if (missing < Infinity) continue;
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n') + 4;
      if (end < 4) continue;
      missing = end + Number(/content-length: (\d+)/i.exec(head)?.[1]) - head.length;
      say('begun', missing);
    }
  } catch {
    // Ignore an error of the socket, because `missing` shows whether the client received the complete response.
  }
  say('read', missing);
}

await Promise.all(
  hosts.flatMap((host) => Array.from({ length: Number(perHost) }, (_, index) => read(host, index % 2 === 1))),
);
