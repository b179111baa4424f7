// Loaded with --import into every program: writes down the port of each client whose connection the program has accepted,
// at once, since who is killed writes nothing at its end. It listens for no process signal and touches no server.
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const file = process.env['ACCEPTED_PORTS'];

if (file !== undefined) {
  subscribe('net.server.socket', (message) => {
    appendFileSync(file, `${String((message as { socket: Socket }).socket.remotePort)}\n`);
  });
}
