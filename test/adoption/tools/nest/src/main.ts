// It ends itself, so that its lifecycle does.
import { createServer, type Server } from 'http';

const server: Server = createServer((_request, response) => response.end('hello'));
server.listen(0, () => setTimeout(() => process.kill(process.pid, 'SIGTERM'), 500));
