// The states of a connection, and all transitions between them, as one pure function.
import type { Session } from './http2/session.ts';
import type { Upgraded } from './upgraded/socket.ts';

/** Spoken is the protocol that an open connection uses. */
export type Spoken =
  /**
   * `handshake`: the TLS handshake is not complete. Such a connection has no request, so the drain does not wait for a
   * response on it.
   */
  | { readonly is: 'handshake' }
  /** State `http`: the client speaks HTTP/1.1, or has sent no byte yet, so that its protocol is unknown. */
  | { readonly is: 'http' }
  /** State `session`: the client speaks HTTP/2. */
  | { readonly is: 'session'; readonly session: Session }
  /** State `upgraded`: the client speaks another protocol after an upgrade, or uses a CONNECT tunnel. */
  | { readonly is: 'upgraded'; readonly upgraded: Upgraded };

/**
 * ConnectionState is the state of a connection. While the connection is in use, the state is the protocol. Near the
 * end, it is `closing` (the server has announced the end) or `closed` (the connection has ended).
 */
export type ConnectionState =
  | Spoken
  /**
   * `closing`: the server has sent `Connection: close`, a FIN or the last GOAWAY, or will send `Connection: close` with
   * the response to a request that has arrived. The server does not execute later requests on this connection.
   */
  | { readonly is: 'closing'; readonly after: Spoken }
  /** `closed`: the connection has ended, or the program has sent its socket to another process. */
  | { readonly is: 'closed'; readonly after: Spoken };

/** ConnectionEvent is an event that may change the state of a connection. */
export type ConnectionEvent =
  /**
   * Event `http`: the connection carries HTTP from now on, because its TLS handshake is complete. The event also occurs
   * if the program has passed a plain TCP socket of a TLS server to the HTTP parser. One example is a program with the
   * package httpolyglot.
   */
  | Exclude<Spoken, { is: 'handshake' }>
  /** Event `close announced`: the server has sent `Connection: close`, a FIN or a GOAWAY to the client. */
  | { readonly is: 'close announced' }
  | { readonly is: 'closed' };

export const handshake: Spoken = { is: 'handshake' };
export const http: Extract<Spoken, { is: 'http' }> = { is: 'http' };
export const closeAnnounced: ConnectionEvent = { is: 'close announced' };

/**
 * `next()` returns the state of a connection after an event. Each list entry names an event, and the changes of state
 * that it causes: state before ▶ state after. In any other state, the event has no effect.
 *
 * - `http`: handshake ▶ http
 * - `session`: handshake ▶ session, http ▶ session
 * - `upgraded`: handshake ▶ upgraded, http ▶ upgraded
 * - `close announced`: handshake, http, session or upgraded ▶ closing
 * - `closed`: handshake, http, session, upgraded or closing ▶ closed
 */
export function next(state: ConnectionState, event: ConnectionEvent): ConnectionState {
  switch (event.is) {
    case 'http':
      return state.is === 'handshake' ? http : state;
    case 'session':
    case 'upgraded':
      return state.is === 'handshake' || state.is === 'http' ? event : state;
    case 'close announced':
      return state.is === 'closing' || state.is === 'closed' ? state : { is: 'closing', after: state };
    case 'closed':
      return state.is === 'closed' ? state : { is: 'closed', after: spokenIn(state) };
    default:
      return event satisfies never;
  }
}

/**
 * spokenIn returns the protocol of a connection. If the state is `closing` or `closed`, it returns the protocol that
 * the connection used before.
 */
export function spokenIn(state: ConnectionState): Spoken {
  return state.is === 'closing' || state.is === 'closed' ? state.after : state;
}
