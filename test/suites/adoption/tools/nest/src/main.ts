// This program shuts itself down, so that its lifecycle ends.
import { createServer, type Server } from 'http';

const server: Server = createServer((_request, response) => response.end('hello'));
server.listen(0, () => setTimeout(() => process.kill(process.pid, 'SIGTERM'), 500));
