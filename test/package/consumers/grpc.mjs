// A user's program with a gRPC health service, and a client that requests its status.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { credentials, makeGenericClientConstructor } from '@grpc/grpc-js';
import { service } from 'grpc-health-check';
import { lameduck } from 'lameduck';
import { grpcHealth } from 'lameduck/grpc';

// The code is in an async function, because a CommonJS bundle does not permit top-level await.
async function main() {
  const server = createServer();
  const duck = lameduck(server);
  server.listen(0);
  await Promise.all([once(server, 'listening'), duck.signals.hasBeenReady.signaled]);
  const port = await grpcHealth(duck).listen('127.0.0.1:0');

  const Client = makeGenericClientConstructor(service, 'Health');
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const { status } = await new Promise((resolve, reject) => {
    client.check({ service: '' }, (error, reply) => (error === null ? resolve(reply) : reject(error)));
  });
  if (status !== 'SERVING') throw new Error(`the health service says ${status}`);
  client.close();

  await duck.shutdown('the package works');
}

void main();
