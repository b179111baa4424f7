// Loaded with --import into every program. Writes the port of each client to a file as soon as the program has accepted
// its connection. A killed program writes nothing at its end. The module listens for no process signal and changes no
// server.
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const file = process.env['ACCEPTED_PORTS'];

if (file !== undefined) {
  subscribe('net.server.socket', (message) => {
    appendFileSync(file, `${String((message as { socket: Socket }).socket.remotePort)}\n`);
  });
}
