// A server with large responses. If a client reads slowly, most of a response stays in the buffers of the kernel. A pod
// runs this program from a ConfigMap, with the package lameduck in its image.
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

const body = Buffer.alloc(1_500_000, 'x');

const server = createServer((_, response) => response.end(body));
lameduck(server);
server.listen(Number(process.env['PORT']));
