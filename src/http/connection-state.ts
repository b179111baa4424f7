// The states of a connection and all transitions between them, as one pure function.
import type { Session } from './http2/session.ts';
import type { Upgraded } from './upgraded/socket.ts';

/** Spoken is the protocol of a connection. */
export type Spoken =
  /** A TCP connection whose TLS handshake is not complete. No response on it has to be delivered before its end. */
  | { readonly is: 'handshake' }
  /** HTTP/1.1, or nothing yet. */
  | { readonly is: 'http' }
  /** HTTP/2. */
  | { readonly is: 'session'; readonly session: Session }
  /** Another protocol after an upgrade, or a CONNECT tunnel. */
  | { readonly is: 'upgraded'; readonly upgraded: Upgraded };

/** ConnectionState is the protocol in use, or the progress of the connection towards its end. */
export type ConnectionState =
  | Spoken
  /** The server has sent `Connection: close`, a FIN or a GOAWAY. Later requests of the client are not executed. */
  | { readonly is: 'leaving'; readonly after: Spoken }
  /** The connection has ended, or its socket was sent to another process. */
  | { readonly is: 'closed'; readonly after: Spoken };

/** ConnectionEvent is an event that changes the state of a connection. */
export type ConnectionEvent =
  /** The TLS handshake is complete. */
  | { readonly is: 'secured' }
  | Extract<Spoken, { is: 'session' | 'upgraded' }>
  /** The server has sent `Connection: close`, a FIN or a GOAWAY. */
  | { readonly is: 'told' }
  | { readonly is: 'closed' };

export const handshake: Spoken = { is: 'handshake' };
export const http: Spoken = { is: 'http' };
export const told: ConnectionEvent = { is: 'told' };

/**
 * next is the table of all transitions. An event that is not in the row of a state does not change that state.
 *
 *     handshake    secured ▶ http                                told ▶ leaving    closed ▶ closed
 *     http         session ▶ session    upgraded ▶ upgraded      told ▶ leaving    closed ▶ closed
 *     session                                                    told ▶ leaving    closed ▶ closed
 *     upgraded                                                   told ▶ leaving    closed ▶ closed
 *     leaving                                                                      closed ▶ closed
 *     closed
 */
export function next(state: ConnectionState, event: ConnectionEvent): ConnectionState {
  switch (event.is) {
    case 'secured':
      return state.is === 'handshake' ? http : state;
    case 'session':
    case 'upgraded':
      return state.is === 'http' ? event : state;
    case 'told':
      return state.is === 'leaving' || state.is === 'closed' ? state : { is: 'leaving', after: state };
    case 'closed':
      return state.is === 'closed' ? state : { is: 'closed', after: spokenIn(state) };
    default:
      return event satisfies never;
  }
}

/** spokenIn returns the protocol of a connection that has this state. */
export function spokenIn(state: ConnectionState): Spoken {
  return state.is === 'leaving' || state.is === 'closed' ? state.after : state;
}
