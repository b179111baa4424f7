// Loaded with --import into every program. When the program accepts a connection, this module writes the client's port
// to a file immediately, because a killed program writes nothing at its end. The module listens for no process signal
// and changes no server.
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const file = process.env['ACCEPTED_PORTS'];

if (file !== undefined) {
  subscribe('net.server.socket', (message) => {
    appendFileSync(file, `${String((message as { socket: Socket }).socket.remotePort)}\n`);
  });
}
