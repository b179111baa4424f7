// The standard gRPC health service, grpc.health.v1.Health. Its answers come from `Statuses`.
import {
  status as grpcStatus,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { ServingStatus, Statuses } from './statuses.ts';

interface HealthCheckRequest {
  readonly service: string;
}

interface Reply {
  readonly status: ServingStatus;
}

// The maximum number of open watches of the gRPC health service. It bounds the memory if a client opens watches and
// never reads them.
const mostWatchers = 1_000;

/**
 * HealthService implements the methods Check, List and Watch of the gRPC health service. A Watch gets a stream of
 * statuses until `endWatches` is called.
 */
export class HealthService {
  readonly #statuses: Statuses;
  readonly #streams = new Map<ServerWritableStream<HealthCheckRequest, Reply>, () => void>();
  #takesWatches = true;

  constructor(statuses: Statuses) {
    this.#statuses = statuses;
  }

  /** `implementation` is the argument of `addService` of @grpc/grpc-js. */
  get implementation(): UntypedServiceImplementation {
    return {
      check: (call: ServerUnaryCall<HealthCheckRequest, Reply>, callback: sendUnaryData<Reply>) => {
        void this.#check(call.request.service, callback);
      },
      list: (_call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) => {
        void this.#list(callback);
      },
      watch: (stream: ServerWritableStream<HealthCheckRequest, Reply>) => {
        this.#watch(stream);
      },
    };
  }

  /**
   * endWatches ends every watch and rejects new watches. Otherwise the shutdown of the gRPC server would wait for the
   * streams of the watches.
   */
  endWatches(): void {
    this.#takesWatches = false;
    for (const [stream, forget] of this.#streams) {
      forget();
      stream.end();
    }
  }

  async #check(service: string, callback: sendUnaryData<Reply>): Promise<void> {
    const status = await this.#statuses.of(service);
    if (status === undefined) callback({ code: grpcStatus.NOT_FOUND, details: 'unknown service' });
    else callback(null, { status });
  }

  async #list(callback: sendUnaryData<object>): Promise<void> {
    const reply = async (name: string): Promise<[string, Reply]> => [
      name,
      { status: (await this.#statuses.of(name)) ?? 'SERVICE_UNKNOWN' },
    ];
    callback(null, { statuses: Object.fromEntries(await Promise.all(this.#statuses.names.map(reply))) });
  }

  #watch(stream: ServerWritableStream<HealthCheckRequest, Reply>): void {
    if (!this.#takesWatches) {
      stream.emit('error', { code: grpcStatus.UNAVAILABLE, details: 'the server is shutting down' });
      return;
    }
    if (this.#streams.size >= mostWatchers) {
      stream.emit('error', { code: grpcStatus.RESOURCE_EXHAUSTED, details: 'too many watches' });
      return;
    }
    const stop = this.#statuses.watch(stream.request.service, (status) => stream.write({ status }));
    const forget = (): void => {
      stop();
      this.#streams.delete(stream);
    };
    this.#streams.set(stream, forget);
    stream.on('cancelled', forget);
    stream.on('error', forget);
    stream.on('close', forget);
  }
}
