// The package's export `lameduck/grpc`: the standard gRPC health service, on a server of the program or on a separate
// port.
import { Server, ServerCredentials } from '@grpc/grpc-js';
import grpcPackage from '@grpc/grpc-js/package.json' with { type: 'json' };
import { service as definition } from 'grpc-health-check';
import healthPackage from 'grpc-health-check/package.json' with { type: 'json' };
import { systemClock } from './clock.ts';
import { LameduckError, messageOf, quoted } from './errors.ts';
import { HealthService } from './grpc/service.ts';
import { Statuses } from './grpc/statuses.ts';
import type { Lameduck } from './handle.ts';
import { lifecycleOf } from './manage.ts';
import type { Parts } from './parts.ts';
import { checkPackage } from './package-version.ts';
import { checkName, checkOptions } from './arguments.ts';

/** GrpcHealthOptions are the options of `grpcHealth()`: further gRPC service names that have a health status. */
export interface GrpcHealthOptions {
  /**
   * `services` adds gRPC services. It maps the name of each service to a group of readyz checks, which decides the
   * status of the service.
   *
   * @default none
   */
  readonly services?: Readonly<Record<string, string>> | undefined;
}

/** GrpcHealth is the health service of one lifecycle. */
export interface GrpcHealth {
  /**
   * addTo adds the health service to a gRPC server of the program. Call it before the server is bound. The gRPC server
   * then drains together with the HTTP servers. From `NotAcceptingNewRequest` on, it rejects new calls. Calls in flight
   * may continue until the end of the drain.
   */
  readonly addTo: (server: Server) => void;
  /**
   * `listen()` opens a gRPC server without TLS at an address such as `0.0.0.0:9090`. This server has the health service
   * only, and answers until the shutdown has ended. Resolves with the port number. Rejects with
   * LAMEDUCK_ERR_GRPC_LISTEN if the address is not available.
   */
  readonly listen: (address: string) => Promise<number>;
}

/**
 * grpcHealth creates the standard gRPC health service of a lifecycle
 * (https://github.com/grpc/grpc/blob/master/doc/health-checking.md). The services `''` and `readyz` have the status of
 * /readyz. `livez` and `healthz` have the status of the endpoint with the same name. Throws
 * LAMEDUCK_ERR_PACKAGE_OUTDATED, LAMEDUCK_ERR_OPTIONS_INVALID or LAMEDUCK_ERR_NAME_INVALID.
 */
export function grpcHealth(duck: Lameduck, options: GrpcHealthOptions = {}): GrpcHealth {
  checkPackage('grpcHealth()', '@grpc/grpc-js', grpcPackage.version, '1.12');
  checkPackage('grpcHealth()', 'grpc-health-check', healthPackage.version, '2.0');
  const services = readServices(options);
  const parts = lifecycleOf(duck)?.parts;
  if (parts === undefined) return switchedOff;
  const { health, handle } = parts;
  const statuses = new Statuses({ health, signals: handle.signals, clock: systemClock, services });
  const service = new HealthService(statuses);
  // End all `Watch` calls of gRPC clients when the drain begins. Otherwise, the drain of the gRPC server would wait for
  // these open streams. Before that, each watching client has received NOT_SERVING.
  void handle.signals.notAcceptingNewRequest.signaled.then(() => {
    service.endWatches();
  });
  void handle.signals.muxAndDiscoveryComplete.signaled.then(() => {
    warnOfEmptyGroups(parts, services);
  });
  return {
    addTo(server) {
      server.addService(definition, service.implementation);
      parts.shutdown.drainWith({
        transport: 'gRPC',
        drain: () => shutDown(server),
        cut: () => {
          server.forceShutdown();
        },
      });
    },
    async listen(address) {
      const server = new Server();
      server.addService(definition, service.implementation);
      const port = await bind(server, address);
      void handle.ended.then(() => {
        server.forceShutdown();
      });
      return port;
    },
  };
}

// The gRPC health service that is returned if LAMEDUCK_DISABLED is 1. It opens no port and answers no call.
const switchedOff: GrpcHealth = { addTo: () => undefined, listen: () => Promise.resolve(0) };

function readServices(options: GrpcHealthOptions): ReadonlyMap<string, string> {
  checkOptions('grpcHealth()', options, ['services']);
  checkOptions('services of grpcHealth()', options.services);
  const services = Object.entries(options.services ?? {});
  for (const [service, group] of services) checkName(`the group of the gRPC service ${quoted(service)}`, group);
  return new Map(services);
}

function warnOfEmptyGroups({ health, warn }: Parts, services: ReadonlyMap<string, string>): void {
  for (const [service, group] of services) {
    if (health.readyz.hasGroup(group)) continue;
    warn(`gRPC service ${quoted(service)} uses the group "${group}", but no readyz check is in this group`);
  }
}

function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.tryShutdown(() => {
      resolve();
    });
  });
}

async function bind(server: Server, address: string): Promise<number> {
  try {
    return await new Promise((resolve, reject) => {
      server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
  } catch (cause) {
    const message = `gRPC health service: ${quoted(address)}: unable to listen: ${messageOf(cause)}`;
    throw new LameduckError('LAMEDUCK_ERR_GRPC_LISTEN', message);
  }
}
