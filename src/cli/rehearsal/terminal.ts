// Prints a rehearsal for a person. During the run, it prints a line for each important event and a status line. At the
// end, it prints the verdict.
import { clearLine, cursorTo } from 'node:readline';
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import type { Detail, EventKind, RehearsalEvent } from './event-log.ts';
import type { Result, ScenarioResult, Verdict } from './result.ts';
import { statusLine, statusOf, type Status } from './status-line.ts';

type Style = Parameters<typeof styleText>[0];

const styles: Readonly<Record<Verdict, Style>> = { clean: 'green', lost: 'red', withheld: 'yellow' };

const names: Readonly<Record<Verdict, string>> = {
  clean: 'clean: nothing was lost',
  lost: 'lost',
  withheld: 'withheld',
};

type Text = (detail: Detail) => string | undefined;

const s = (value: Detail[string]): string => String(value ?? '');

// The printed line for each kind of event. Events of other kinds appear only in the JSON result and on the HTML page.
const texts: Readonly<Partial<Record<EventKind, Text>>> = {
  containerStarted: ({ container, restarts }) =>
    `container ${s(container)} started${restarts === 0 ? '' : `, restart ${s(restarts)}`}`,
  containerListening: ({ port, address, isMain, isLoopback }) =>
    `listening on port ${s(port)}${address === undefined ? '' : ` at ${s(address)}`}${isMain === false ? ', in a child of the main process' : ''}${isLoopback === true ? ', only on loopback' : ''}`,
  listenerClosed: ({ port }) => `port ${s(port)} is closed`,
  containerExited: ({ container, code, signal, output }) =>
    `container ${s(container)} exited with code ${s(code)}${signal === undefined ? '' : ` (${s(signal)})`}${lastLine(output)}`,
  containerBackOff: ({ container, delayMs }) =>
    `back-off ${(Number(delayMs) / 1_000).toFixed(1)} s before the restart of container ${s(container)}`,
  containerKilling: ({ text }) => s(text),
  containerStartedCondition: ({ container }) => `container ${s(container)} passed its startup probe`,
  readinessChanged: ({ isReady }) => (isReady === true ? 'the pod is ready' : 'the pod is not ready'),
  podDeleted: ({ cause, gracePeriodSeconds }) => `the pod ends: ${s(cause)}, grace period ${s(gracePeriodSeconds)} s`,
  podStopped: () => 'every container has stopped',
  endpointChanged: ({ node, sendsTo }) =>
    `${s(node)} sends new connections to ${destinations[s(sendsTo)] ?? s(sendsTo)}`,
  preStopStarted: ({ container }) => `preStop of ${s(container)} started`,
  preStopEnded: ({ container, failure }) =>
    `preStop of ${s(container)} ended${failure === undefined ? '' : `: ${s(failure)}`}`,
  postStartStarted: ({ container }) => `postStart of ${s(container)} started`,
  postStartEnded: ({ container, failure }) =>
    `postStart of ${s(container)} ended${failure === undefined ? '' : `: ${s(failure)}`}`,
  stopSignal: ({ container, signal }) => `${s(signal)} sent to ${s(container)}`,
  killSignal: ({ container, signal, isStopSignalHandled, isHandlerLate }) =>
    `SIGKILL sent to ${s(container)}: the grace period is over${isStopSignalHandled === false ? `, and its main process has no handler for ${s(signal)}` : ''}${isHandlerLate === true ? `, and its main process added its handler for ${s(signal)} only after this signal` : ''}`,
  interrupted: () => 'the rehearsal was interrupted',
  note: ({ text }) => s(text),
  probe: ({ type, result, output, isWarning, run }) => {
    if (Number(run) > mostRepeats) return undefined;
    if (result === 'success') return isWarning === true ? `${s(type)} probe warning` : undefined;
    return `${s(type)} probe ${result === 'error' ? 'errored' : 'failed'}: ${s(output)}`;
  },
};

const destinations: Readonly<Record<string, string>> = {
  pod: 'the pod',
  others: 'other pods',
  refused: 'no pod: the connections are refused',
};

const losses: readonly EventKind[] = ['requestLost', 'requestRefused'];

/** Terminal prints to one stream. If the stream is a terminal, the last line is a status line. */
export class Terminal {
  readonly #stream: WriteStream;
  readonly #isLive: boolean;
  #status: Status | undefined;
  #restMs = 0;
  #longestMs = 0;
  #lossesShown = 0;

  constructor(stream: WriteStream) {
    this.#stream = stream;
    this.#isLive = stream.isTTY;
  }

  line(text = '', style?: Style): void {
    this.#clear();
    this.#stream.write(`${style === undefined ? text : styleText(style, text, { stream: this.#stream })}\n`);
    this.#draw();
  }

  onEvent({ at, kind, detail }: RehearsalEvent): void {
    if (kind === 'requests') {
      this.#setStatus(at, detail);
      return;
    }
    if (kind === 'readinessChanged') this.#longestMs = Math.min(this.#longestMs, at + this.#restMs);
    const isLoss = losses.includes(kind);
    const text = isLoss ? this.#lossText(kind, detail) : texts[kind]?.(detail);
    if (text !== undefined) this.line(`${(at / 1_000).toFixed(2).padStart(8)}s  ${text}`, isLoss ? 'red' : undefined);
  }

  /**
   * begin resets the counters before the next scenario. The scenario takes at most `startMs` milliseconds until the pod
   * is ready, and at most `restMs` milliseconds after that.
   */
  begin(startMs: number, restMs: number): void {
    this.#lossesShown = 0;
    this.#restMs = restMs;
    this.#longestMs = startMs + restMs;
  }

  /** end removes the status line from the terminal. */
  end(): void {
    this.#clear();
    this.#status = undefined;
  }

  verdict(result: ScenarioResult): void {
    const { name, verdict, reason, requests, lost, refused, causes, notes, exit, notTried } = result;
    const counts = `${String(requests)} requests, ${String(lost)} lost, ${String(refused)} refused`;
    const how =
      exit === undefined ? '' : `, exit code ${String(exit.code)} after ${(exit.afterMs / 1_000).toFixed(1)} s`;
    this.line();
    const why = reason === undefined ? '' : `: ${reason}`;
    this.line(`${name}: ${names[verdict]}${why} (${counts}${how})`, styles[verdict]);
    for (const { text, remedy, changes } of causes) {
      this.line(`  cause:  ${text}`);
      this.line(`  remedy: ${remedy}`);
      for (const change of changes) this.line(`  change: ${change}`);
    }
    for (const note of notes) this.line(`  note:   ${note}`);
    if (notTried.length > 0) this.line(`  kinds of clients that sent no request: ${notTried.join(', ')}`, 'dim');
  }

  table({ scenarios, leftOut, changes, seed }: Result): void {
    if (scenarios.length > 1) {
      this.line();
      this.line(['scenario'.padEnd(18), 'propagation', 'requests', '    lost', ' refused', '  verdict'].join('  '));
      for (const { name, propagationMs, requests, lost, refused, verdict } of scenarios) {
        const cells = [
          `${String(propagationMs / 1_000)} s`.padStart(11),
          ...[requests, lost, refused].map((n) => String(n).padStart(8)),
        ];
        this.line([name.padEnd(18), ...cells, `  ${verdict}`].join('  '), styles[verdict]);
      }
    }
    if (scenarios.length > 1 && changes.length > 0) {
      this.line();
      this.line('changes of the manifest for all scenarios:');
      for (const change of changes) this.line(`  ${change}`);
    }
    if (leftOut > 0) this.line(`scenarios not run because of the interruption: ${String(leftOut)}`, styles.withheld);
    this.line(`to repeat this rehearsal with the same random values: --seed ${String(seed)}`, 'dim');
  }

  // Returns the output line for a lost or refused request, if the request is one of the first ten in the scenario.
  // Otherwise returns undefined. The status line and the verdict count all these requests.
  #lossText(kind: EventKind, { client, why, afterMs }: Detail): string | undefined {
    this.#lossesShown++;
    if (this.#lossesShown > mostLosses) return undefined;
    const text = `${kind === 'requestLost' ? 'lost' : 'refused'}: ${s(client)}, ${s(why)} after ${Number(afterMs).toFixed(0)} ms`;
    return this.#lossesShown === mostLosses ? `${text}; further losses are only counted` : text;
  }

  #setStatus(at: number, counts: Detail): void {
    if (!this.#isLive) return;
    this.#clear();
    this.#status = statusOf(at, this.#longestMs, counts);
    this.#draw();
  }

  #clear(): void {
    if (this.#status === undefined) return;
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 0);
  }

  #draw(): void {
    if (this.#status === undefined) return;
    const { columns } = this.#stream;
    // Some terminals wrap a line that fills the last column.
    this.#stream.write(statusLine(this.#status, (columns > 0 ? columns : usualColumns) - 1));
  }
}

// The width of a terminal that does not tell its width.
const usualColumns = 80;

const mostLosses = 10;

// If consecutive probes have the same result, the terminal prints a line for at most this number of them.
const mostRepeats = 3;

function lastLine(output: Detail[string]): string {
  const line = s(output).trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : `: ${line.slice(0, 200)}`;
}
