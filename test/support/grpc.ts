// A client of the gRPC health service, and a second service whose calls last until the test ends them.
import { once } from 'node:events';
import {
  Client,
  credentials,
  makeGenericClientConstructor,
  type ClientReadableStream,
  type sendUnaryData,
  type ServiceDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import { service } from 'grpc-health-check';

type Callback<Reply> = (error: ServiceError | null, reply: Reply) => void;

interface HealthStub {
  check(request: { service: string }, callback: Callback<{ status: string }>): void;
  list(request: object, callback: Callback<{ statuses: Record<string, { status: string }> }>): void;
  watch(request: { service: string }): ClientReadableStream<{ status: string }>;
  close(): void;
}

/** Watch is one open call of the method `Watch` of the gRPC health service. */
export interface Watch {
  readonly told: string[];
  readonly first: Promise<unknown>;
  readonly end: Promise<string[]>;
  readonly cancel: () => void;
}

const HealthClient = makeGenericClientConstructor(service, 'Health');

export class GrpcHealthClient {
  readonly stub: HealthStub;

  constructor(port: number) {
    this.stub = new HealthClient(`127.0.0.1:${String(port)}`, credentials.createInsecure()) as unknown as HealthStub;
  }

  /** `check()` resolves with the health status, or with the name of the error code. */
  check(of = ''): Promise<string | number> {
    return new Promise((resolve) => {
      this.stub.check({ service: of }, (error, reply) => {
        resolve(error === null ? reply.status : error.code);
      });
    });
  }

  list(): Promise<Record<string, { status: string }>> {
    return new Promise((resolve, reject) => {
      this.stub.list({}, (error, reply) => {
        if (error === null) resolve(reply.statuses);
        else reject(error);
      });
    });
  }

  /**
   * `watch()` collects the statuses that a stream sends. `end` resolves with all of them, and with a last element that
   * says how the stream ended.
   */
  watch(of = ''): Watch {
    const stream = this.stub.watch({ service: of });
    const told: string[] = [];
    stream.on('data', ({ status }: { status: string }) => told.push(status));
    const first = once(stream, 'data');
    first.catch(() => undefined); // Ignore the error here: `end` reports it too.
    const end = new Promise<string[]>((resolve) => {
      stream.on('error', () => undefined);
      stream.on('status', ({ code }) => {
        resolve([...told, `code ${String(code)}`]);
      });
    });
    const cancel = (): void => {
      stream.cancel();
    };
    return { told, first, end, cancel };
  }
}

const asText = {
  requestSerialize: (text: string) => Buffer.from(text),
  requestDeserialize: String,
  responseSerialize: (text: string) => Buffer.from(text),
  responseDeserialize: String,
};

/** `echo` is a service with one unary call. */
export const echo: ServiceDefinition = {
  call: { path: '/Echo/Call', requestStream: false, responseStream: false, ...asText },
};

/** `orders` is a service with two streaming calls. */
export const orders: ServiceDefinition = {
  watch: { path: '/shop.Orders/Watch', requestStream: false, responseStream: true, ...asText },
  wait: { path: '/shop.Orders/Wait', requestStream: false, responseStream: true, ...asText },
};

const EchoClient = makeGenericClientConstructor(echo, 'Echo');

/** callEcho resolves with the response, or with the code of the error. */
export function callEcho(
  port: number,
  text: string,
): { readonly answer: Promise<string | number>; readonly close: () => void } {
  const client = new EchoClient(`127.0.0.1:${String(port)}`, credentials.createInsecure());
  const answer = new Promise<string | number>((resolve) => {
    (client['call'] as (text: string, callback: sendUnaryData<string>) => void)(text, (error, reply) => {
      resolve(error === null ? (reply as string) : (error.code ?? -1));
    });
  });
  return {
    answer,
    close: () => {
      client.close();
    },
  };
}

/** BusyGrpcClient is a client with its own connection that never retries. */
export class BusyGrpcClient {
  answered = 0;
  readonly #client;

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${String(port)}`, credentials.createInsecure(), {
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  /** `call()` sends one call and resolves with its error, or with undefined. */
  call(): Promise<ServiceError | undefined> {
    return new Promise((resolve) => {
      const { requestSerialize, responseDeserialize } = asText;
      this.#client.makeUnaryRequest('/Echo/Call', requestSerialize, responseDeserialize, '', (error) => {
        if (error === null) this.answered++;
        resolve(error ?? undefined);
      });
    });
  }

  close(): void {
    this.#client.close();
  }
}
