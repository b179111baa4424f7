// The address of the API server and the credentials of its client. In a cluster, the kubelet provides the address, the
// token and the CA.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { LameduckError, messageOf } from '../../errors.ts';

/**
 * ApiServer says how to reach the API server. If neither `token` nor `tokenFile` is set, the elector sends no
 * `Authorization` header. This suits `kubectl proxy`, which authenticates itself.
 */
export interface ApiServer {
  /** `url` is the URL of the API server. It must use `https:`, or `http:` on a loopback address. */
  readonly url: string;
  readonly token?: string;
  /**
   * tokenFile is the path of a file with a bearer token. The elector reads the file again every 50 seconds and after a
   * 401.
   */
  readonly tokenFile?: string;
  /**
   * caFile is the path of a PEM file with the trusted CA. The elector reads the file for each new connection. By
   * default, the elector trusts the system's root certificates.
   */
  readonly caFile?: string;
}

/** serviceAccountFolder is the folder in which the kubelet mounts the credentials of a pod. */
export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * inCluster returns the API server of the cluster in which the process runs (L-120). Throws LAMEDUCK_ERR_NOT_IN_CLUSTER
 * unless both variables of the API server's Service are set.
 */
export function inCluster(environment: Readonly<Record<string, string | undefined>>, folder: string): ApiServer {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = environment;
  if (host === '' || port === '') throw notInCluster();
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { url, tokenFile: join(folder, 'token'), caFile: join(folder, 'ca.crt') };
}

/** notInCluster returns the error for a process that runs outside a cluster and has no option `apiServer`. */
export function notInCluster(): LameduckError {
  return new LameduckError(
    'LAMEDUCK_ERR_NOT_IN_CLUSTER',
    'leader election needs a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must both be set.' +
      ' Pass `apiServer`, or set LAMEDUCK_LEADER_ELECTION_ALONE=1 to lead without a cluster.',
  );
}

/** namespaceOf returns the pod's own namespace, or undefined outside a pod. */
export function namespaceOf(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, 'namespace'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

// Milliseconds after which the token file is read again, as in client-go (L-121). A token is valid for at least ten
// minutes, and the kubelet renews it long before the token expires.
const tokenLifetime = 50_000;

/**
 * Credentials reads the files with the token and the CA. If a file becomes invalid later, Credentials uses its last
 * valid content.
 */
export class Credentials {
  readonly #server: ApiServer;
  readonly #clock: Clock;
  #token: string | undefined;
  #ca: string | undefined;
  #readAt: number;

  /**
   * The constructor throws LAMEDUCK_ERR_CREDENTIALS_UNREADABLE if the token file or the CA file is unreadable, or if
   * the CA file contains no certificate. Without the CA certificate of the API server, an elector does not trust the
   * API server.
   */
  constructor(server: ApiServer, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
    const { token, tokenFile, caFile } = server;
    this.#token = token ?? (tokenFile === undefined ? undefined : readNow('token', tokenFile));
    if (tokenFile !== undefined && !isToken(this.#token)) {
      throw unreadable('token', tokenFile, 'expected a token of printable ASCII characters without spaces');
    }
    this.#ca = caFile === undefined ? undefined : readNow('CA', caFile);
    if (caFile !== undefined && !isCertificate(this.#ca)) {
      throw unreadable('CA', caFile, 'expected at least one certificate in PEM form');
    }
    this.#readAt = clock.now();
  }

  /** `token()` returns the bearer token. It reads the file again if the last reading is older than 50 seconds. */
  token(): string | undefined {
    if (this.#clock.now() - this.#readAt >= tokenLifetime) this.readToken();
    return this.#token;
  }

  /**
   * readToken reads the token file now and returns the token. If the file is unreadable or has no valid token, it
   * returns the last token.
   */
  readToken(): string | undefined {
    const { tokenFile } = this.#server;
    if (tokenFile === undefined) return this.#token;
    this.#readAt = this.#clock.now();
    const read = readOr(this.#token, tokenFile);
    if (isToken(read)) this.#token = read;
    return this.#token;
  }

  /**
   * `ca()` returns the certificate of the CA that a new connection trusts. It returns undefined if the connection
   * trusts the system's root certificates.
   */
  ca(): string | undefined {
    const { caFile } = this.#server;
    const read = caFile === undefined ? undefined : readOr(this.#ca, caFile);
    if (isCertificate(read)) this.#ca = read;
    return this.#ca;
  }
}

function readNow(what: string, file: string): string {
  let problem = 'the file is empty';
  try {
    const text = readFileSync(file, 'utf8').trim();
    if (text !== '') return text;
  } catch (error) {
    problem = messageOf(error);
  }
  throw unreadable(what, file, problem);
}

function unreadable(what: string, file: string, problem: string): LameduckError {
  return new LameduckError(
    'LAMEDUCK_ERR_CREDENTIALS_UNREADABLE',
    `the ${what} of the API server must be readable at ${file}: ${problem}`,
  );
}

/**
 * isToken tells whether a value can be a bearer token: printable ASCII characters without spaces. undici rejects a
 * header with other characters.
 */
export function isToken(given: unknown): given is string {
  return typeof given === 'string' && /^[\x21-\x7e]+$/.test(given);
}

// Tells whether a text is a certificate. Without this check, Node would ignore an invalid CA, and report each
// certificate of the API server as self-signed.
function isCertificate(text = ''): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

function readOr(last: string | undefined, file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || last;
  } catch {
    return last;
  }
}
