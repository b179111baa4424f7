// Short notations for the tests of a rehearsal's result. A test lists the events of a scenario, and the causes of lost
// requests that the rehearsal must find.
import { causesOf } from '../../src/cli/rehearsal/causes.ts';
import type { Detail, EventKind, RehearsalEvent } from '../../src/cli/rehearsal/event-log.ts';

/** Story is a list of events. Times are in milliseconds since the scenario began. */
export type Story = readonly (readonly [at: number, kind: EventKind, detail?: Detail])[];

export function eventsOf(story: Story): RehearsalEvent[] {
  return story.map(([at, kind, detail = {}]) => ({ at, kind, detail }));
}

/** causes returns the name and the text of each cause of lost requests that a rehearsal finds in the given events. */
export function causes(...story: Story): (readonly [name: string, text: string])[] {
  return causesOf(eventsOf(story)).map(({ name, text }) => [name, text]);
}

/**
 * `started` has the events at the beginning of a rehearsal's scenario: a container starts, its server listens, and the
 * pod becomes ready.
 */
export const started: Story = [
  [0, 'containerStarted', { container: 'app' }],
  [300, 'containerListening', { port: 3000, isMain: true, isLoopback: false }],
  [1_000, 'readinessChanged', { isReady: true }],
];

/**
 * `deleted` has the events of a simulated pod that becomes ready, and is deleted 4000 ms after the start of the
 * scenario.
 */
export const deleted: Story = [...started, [4_000, 'podDeleted', { cause: 'deletion' }]];

export const exit = (code: number, at = 5_000): Story[number] => [at, 'containerExited', { container: 'app', code }];

/** killed returns the event that a container was killed by SIGKILL and exited. */
export const killed = (at: number): Story[number] => [
  at,
  'containerExited',
  { container: 'app', code: 137, signal: 'SIGKILL' },
];

export const lost = (at: number, client: string): Story[number] => [at, 'requestLost', { client, why: 'ECONNRESET' }];

export const refused = (at: number, why: string, count?: number): Story[number] => [
  at,
  'requestRefused',
  { client: 'newConnection', why, count },
];
