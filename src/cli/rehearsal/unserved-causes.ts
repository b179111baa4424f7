// Finds the causes of failed requests if a server never served a kind of client. The shutdown cannot have caused the
// failures of such a client. No side effects.
import type { Row } from './causes.ts';
import type { RehearsalEvent } from './event-log.ts';
import { upgradeFailed, type ClientKind } from './load.ts';
import { counted, endOf, isRefusal, lostOrRefused, type Events } from './losses.ts';
import { endedItself } from './start-causes.ts';

// How long clients must have sent requests before the shutdown, in milliseconds. If they sent requests for a shorter
// time, the rehearsal does not report that the server never served these clients.
const shortestTrial = 1_000;

/** Group is a set of client kinds. A server serves either all kinds of the set or none. */
interface Group {
  readonly clients: readonly ClientKind[];
  /** `noun` is the word for one request of these clients in the report of the rehearsal, such as `upload`. */
  readonly noun: string;
  readonly remedy: string;
}

const groups: readonly Group[] = [
  {
    clients: ['newConnection', 'keptConnection', 'retryingConnection'],
    noun: 'HTTP/1.1 request',
    remedy: 'Check --port and --request. These requests use HTTP/1.1 without TLS.',
  },
  {
    clients: ['longPoll'],
    noun: 'long poll',
    remedy: 'Check the path of --long-poll. The server must respond to a GET of this path.',
  },
  {
    clients: ['eventStream'],
    noun: 'event stream',
    remedy: 'Check the path of --stream. The server must respond to a GET of this path.',
  },
  {
    clients: ['upload'],
    noun: 'upload',
    remedy: 'Check the path of --upload. The server must accept a POST with a body of 160 KiB at this path.',
  },
  {
    clients: ['webSocket'],
    noun: 'WebSocket',
    remedy: 'Check the path of --websocket. The server must accept WebSockets without TLS at this path.',
  },
  {
    clients: ['http2'],
    noun: 'HTTP/2 request',
    remedy:
      'Omit --http2, or serve HTTP/2 without TLS on the port of the requests. The clients do not begin with HTTP/1.1.',
  },
];

const isLoss = ({ kind }: RehearsalEvent): boolean => lostOrRefused.includes(kind);

// Returns true if a lost or refused request reached the server.
const hasArrived = (loss: RehearsalEvent): boolean =>
  loss.kind === 'requestLost' || isRefusal(loss) || loss.detail['why'] === upgradeFailed;

// Returns undefined if the server served any request. Otherwise, returns the first request that failed before the
// shutdown began, because the shutdown cannot have caused such a failure. If no request failed before the shutdown,
// returns the first event that contains the number of sent requests.
function neverServed(events: Events): RehearsalEvent | undefined {
  if (events.some(({ kind, detail }) => kind === 'requests' && Number(detail['answered']) > 0)) return undefined;
  const sent = events.find(({ kind, detail }) => kind === 'requests' && Number(detail['sent']) > 0);
  // A WebSocket client cannot tell a refused connection from a refused upgrade.
  const failure = events.find((one) => isLoss(one) && one.at < endOf(events) && one.detail['why'] !== upgradeFailed);
  const isSoon = sent === undefined || sent.at > endOf(events) - shortestTrial;
  return isSoon || (failure !== undefined && !hasArrived(failure)) ? undefined : (failure ?? sent);
}

// Returns the failed requests of a group of clients, if the server never served this group. At least one of the
// requests must have reached the server well before the shutdown. For any other group, returns an empty list. An event
// stream or WebSocket that was open counts as served.
function lossesIfUnserved(events: Events, { clients }: Group): Events {
  const losses = events.filter((one) => isLoss(one) && clients.some((client) => client === one.detail['client']));
  const served = events.findLast(({ kind }) => kind === 'requests')?.detail['served'];
  const isServed =
    served === undefined ||
    clients.some((client) => String(served).split(', ').includes(client)) ||
    losses.some(({ kind, detail }) => kind === 'requestLost' && detail['isUnanswered'] !== true);
  const isTried = losses.some((loss) => hasArrived(loss) && loss.at <= endOf(events) - shortestTrial);
  return isTried && !isServed ? losses : [];
}

/** Unserved contains the failed requests of clients that the server has never served. */
interface Unserved {
  /** `failure` is the event that `neverServed()` returns. It is undefined if the server served any request. */
  readonly failure: RehearsalEvent | undefined;
  /** `losses` has the failed requests of each group. It is empty if the server served no request at all. */
  readonly losses: ReadonlyMap<Group, Events>;
}

function unservedIn(events: Events): Unserved {
  // A server that ended itself may have had too little time to respond.
  if (endedItself(events) !== undefined) return { failure: undefined, losses: new Map() };
  const failure = neverServed(events);
  if (failure !== undefined) return { failure, losses: new Map() };
  return { failure, losses: new Map(groups.map((group) => [group, lossesIfUnserved(events, group)])) };
}

/**
 * withoutUnserved returns the events of a scenario without the lost and refused requests of those clients that the
 * server never served.
 */
export function withoutUnserved(events: Events): Events {
  const { failure, losses } = unservedIn(events);
  if (failure !== undefined) return events.filter((one) => !isLoss(one));
  const unserved = new Set([...losses.values()].flat());
  return events.filter((one) => !unserved.has(one));
}

/**
 * `unservedRows` lists causes of failed requests. One cause applies if the server never served any client. Each other
 * cause applies if the server never served one group of clients.
 */
export const unservedRows: readonly Row[] = [
  {
    name: 'neverServed',
    remedy:
      'Check --port and --request. The requests use HTTP/1.1 without TLS. The requests of --http2 use HTTP/2 without TLS.',
    find(events) {
      const { failure } = unservedIn(events);
      if (failure === undefined) return undefined;
      const sent = events.findLast(({ kind }) => kind === 'requests')?.detail['sent'];
      return failure.kind === 'requests'
        ? `none of the ${String(sent)} requests got a response`
        : `none of the ${String(sent)} requests was served; the first request failed with ${String(failure.detail['why'])}`;
    },
  },
  ...groups.map((group) => ({
    name: 'clientsNeverServed',
    remedy: group.remedy,
    find(events: Events) {
      const losses = unservedIn(events).losses.get(group) ?? [];
      const failure = losses.find(hasArrived);
      return failure === undefined
        ? undefined
        : `not a single ${group.noun} succeeded: ${counted(losses, group.noun)} failed, the first with the reason "${String(failure.detail['why'])}"`;
    },
  })),
];
