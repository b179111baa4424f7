// The package's export for gRPC: the standard health service, on a server of the program or on a port of its own.
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
import { checkName, checkOptions } from './registration.ts';

/** GrpcHealthOptions are the options of `grpcHealth()`. */
export interface GrpcHealthOptions {
  /**
   * Services with a status of their own: service name → group of readyz checks that decides the status.
   *
   * @default none
   */
  readonly services?: Readonly<Record<string, string>> | undefined;
}

/** GrpcHealth is the health service of one lifecycle. */
export interface GrpcHealth {
  /**
   * addTo adds the service to a server of the program. Call it before the server is bound. The server drains with the
   * others: from `NotAcceptingNewRequest` on it rejects new calls, and calls in flight have until the end of the drain.
   */
  readonly addTo: (server: Server) => void;
  /**
   * listen serves only the health service, in clear text, at an address such as `0.0.0.0:9090`. The service is served until
   * everything else has ended. Resolves with the port. Rejects with LAMEDUCK_ERR_GRPC_LISTEN if the address is not available.
   */
  readonly listen: (address: string) => Promise<number>;
}

/**
 * grpcHealth creates the standard gRPC health service of a lifecycle
 * (https://github.com/grpc/grpc/blob/master/doc/health-checking.md). The services `''` and `readyz` have the status of
 * /readyz; `livez` and `healthz` have that of the endpoint of the same name. Throws LAMEDUCK_ERR_PACKAGE_OUTDATED,
 * LAMEDUCK_ERR_OPTIONS_INVALID and LAMEDUCK_ERR_NAME_INVALID.
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
  // Watchers have the last status by now. Without this, a server that drains would wait for their streams.
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
        protocol: 'gRPC',
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

// LAMEDUCK_DISABLED=1: nothing listens, and no call is answered.
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
    warn(`gRPC service ${quoted(service)} uses the group "${group}", which has no readyz check`);
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
