import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { lameduck } from 'lameduck';
import { grpcHealth } from 'lameduck/grpc';

const { shop } = grpc.loadPackageDefinition(loadSync(join(import.meta.dirname, 'greeter.proto'))) as unknown as {
  shop: { Greeter: { service: grpc.ServiceDefinition } };
};

const server = new grpc.Server();
server.addService(shop.Greeter.service, {
  hello: (_call: unknown, reply: grpc.sendUnaryData<{ text: string }>) => {
    setTimeout(() => reply(null, { text: 'hello' }), 20);
  },
});

// addTo(server) adds the health service for the kubelet's grpc probes to the server. It also drains the server: at the
// shutdown, its clients get a GOAWAY.
const duck = lameduck([]);
grpcHealth(duck).addTo(server);

server.bindAsync(`0.0.0.0:${process.env.PORT ?? 8080}`, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error !== null) throw error;
});
