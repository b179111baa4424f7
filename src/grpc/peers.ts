// The packages that gRPC needs; they are the program's to install, since few need them.
import { createRequire } from 'node:module';
import type * as Grpc from '@grpc/grpc-js';
import type * as GrpcHealthCheck from 'grpc-health-check';

// Bundled as CommonJS, a module has no URL.
const { url } = import.meta as { readonly url?: string };
const require = createRequire(url ?? __filename);

/** grpc is @grpc/grpc-js. */
export const grpc = load('@grpc/grpc-js') as typeof Grpc;

/** definition is the standard health service, as grpc-health-check defines it. */
export const definition = (load('grpc-health-check') as typeof GrpcHealthCheck).service as Grpc.ServiceDefinition;

function load(name: string): unknown {
  try {
    return require(name);
  } catch (cause) {
    const message = 'lameduck/grpc needs two more packages: npm install @grpc/grpc-js grpc-health-check';
    throw new Error(message, { cause });
  }
}
