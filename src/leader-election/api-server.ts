// Where the API server is and how a client proves who it is: the in-cluster configuration, the token, the CA.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';

/** ApiServer is how to reach the API server. Without a token, no `Authorization` header is sent: `kubectl proxy` adds its own. */
export interface ApiServer {
  /** `https:`, or `http:` on a loopback address. */
  readonly url: string;
  readonly token?: string;
  /** Read again every 50 seconds, and after a 401. */
  readonly tokenFile?: string;
  /** A PEM file. It is read for each new connection. */
  readonly caFile?: string;
}

/** serviceAccountFolder is where the kubelet mounts the credentials of a pod. */
export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * inCluster returns the API server of the cluster that the process runs in (L-120). Throws LAMEDUCK_ERR_NOT_IN_CLUSTER
 * unless both variables of the API server's Service are set.
 */
export function inCluster(environment: Readonly<Record<string, string | undefined>>, folder: string): ApiServer {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = environment;
  if (host === '' || port === '') {
    throw new LameduckError(
      'LAMEDUCK_ERR_NOT_IN_CLUSTER',
      'leader election needs a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must both be set.' +
        ' Give `apiServer`, or set LAMEDUCK_LEADER_ELECTION_ALONE=1 to lead without a cluster.',
    );
  }
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { url, tokenFile: join(folder, 'token'), caFile: join(folder, 'ca.crt') };
}

/** namespaceOf returns the pod's own namespace; undefined outside a pod. */
export function namespaceOf(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, 'namespace'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

// A token is valid for at least ten minutes and is renewed by the kubelet long before: client-go's interval (L-121).
const tokenLifetime = 50_000;

/** Credentials reads the token and the CA, and keeps the last good ones. */
export class Credentials {
  readonly #server: ApiServer;
  readonly #clock: Clock;
  #token: string | undefined;
  #ca: string | undefined;
  #readAt: number;

  /** Throws LAMEDUCK_ERR_CREDENTIALS_UNREADABLE if a file cannot be read or is empty: nothing is trusted without its CA. */
  constructor(server: ApiServer, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
    const { token, tokenFile, caFile } = server;
    this.#token = token ?? (tokenFile === undefined ? undefined : readNow('token', tokenFile));
    this.#ca = caFile === undefined ? undefined : readNow('CA', caFile);
    this.#readAt = clock.now();
  }

  /** token returns the bearer token, read again if it is older than 50 seconds. */
  token(): string | undefined {
    if (this.#clock.now() - this.#readAt >= tokenLifetime) this.readToken();
    return this.#token;
  }

  /** readToken reads the file now, and tells whether the token has changed. An unreadable or empty file changes nothing. */
  readToken(): boolean {
    const { tokenFile } = this.#server;
    if (tokenFile === undefined) return false;
    this.#readAt = this.#clock.now();
    const before = this.#token;
    this.#token = readOr(before, tokenFile);
    return this.#token !== before;
  }

  /** ca returns what a new connection trusts; undefined for the system's roots. */
  ca(): string | undefined {
    const { caFile } = this.#server;
    if (caFile !== undefined) this.#ca = readOr(this.#ca, caFile);
    return this.#ca;
  }
}

function readNow(what: string, file: string): string {
  let problem = 'it is empty';
  try {
    const text = readFileSync(file, 'utf8').trim();
    if (text !== '') return text;
  } catch (error) {
    problem = messageOf(error);
  }
  throw new LameduckError(
    'LAMEDUCK_ERR_CREDENTIALS_UNREADABLE',
    `the ${what} of the API server must be readable at ${file}: ${problem}`,
  );
}

function readOr(last: string | undefined, file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || last;
  } catch {
    return last;
  }
}
