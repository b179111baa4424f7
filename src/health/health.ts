// The three health endpoints of a lifecycle (/readyz, /livez, /healthz), and the checks that they always have.
import type { Clock } from '../clock.ts';
import type { LifecycleSignals } from '../lifecycle/signals.ts';
import type { Answer } from '../message.ts';
import type { Observer } from '../observer.ts';
import { checkFunction, checkName, checkOptions } from '../arguments.ts';
import { Check, type CheckFunction, type CheckOptions } from './check.ts';
import { DependencyWarnings } from './dependency-warnings.ts';
import { Endpoint, type EndpointName } from './endpoint.ts';
import { LogCheck, type FlushFunction } from './log-check.ts';
import { parseProbeUrl } from './probe-url.ts';
import { reasons, type OwnCheck } from './readyz.ts';

/** HealthOptions are the options of `Health`. Durations are in milliseconds. */
export interface HealthOptions {
  readonly clock: Clock;
  /** checkTimeout is the limit of each health check. */
  readonly checkTimeout: number;
  /**
   * livezGracePeriod is how long /livez passes although a post-start hook has not finished, in milliseconds. With 0,
   * /livez does not check post-start hooks.
   */
  readonly livezGracePeriod: number;
  readonly observer: Pick<Observer, 'onCheckChange' | 'onCheckResult' | 'onWarning'>;
  /** onReady is called when a probe of /readyz without exclusions passes. */
  readonly onReady?: (() => void) | undefined;
  /** flushLog writes the log lines that are still in a buffer. It is undefined if the logger cannot be flushed. */
  readonly flushLog?: FlushFunction | undefined;
  /**
   * isLoopWatched tells whether the probe thread watches the event loop. Every endpoint then has the check
   * `event-loop`.
   */
  readonly isLoopWatched?: boolean;
}

/** Health answers the probes of /readyz, /livez and /healthz. It does not depend on HTTP servers or ports. */
export class Health {
  /** `readyz` is the endpoint /readyz. The check `shutdown` runs last. */
  readonly readyz: Endpoint;
  readonly livez: Endpoint;
  readonly healthz: Endpoint;
  /** isHeldUnready is true after `POST /ready?state=unready` on the debug socket has made /readyz fail. */
  isHeldUnready = false;
  readonly #options: HealthOptions;
  readonly #logCheck: LogCheck;
  readonly #warnings: DependencyWarnings;

  constructor(signals: LifecycleSignals, options: HealthOptions) {
    this.#options = options;
    this.readyz = new Endpoint('readyz', { ...options, onPass: options.onReady }, reasons.shutdown(signals));
    this.livez = new Endpoint('livez', options);
    this.healthz = new Endpoint('healthz', options);
    this.#logCheck = new LogCheck(options.clock, options.flushLog);
    this.#warnings = new DependencyWarnings((message) => {
      options.observer.onWarning(message);
    });
    const ping = new Check('ping', () => true, options);
    const log = this.#createOwn(reasons.log(this.#logCheck));
    const loop = options.isLoopWatched === true ? [this.#createOwn(reasons.stall())] : [];
    for (const endpoint of this.#all) for (const check of [ping, log, ...loop]) endpoint.add(check);
  }

  get #all(): readonly Endpoint[] {
    return [this.readyz, this.livez, this.healthz];
  }

  /**
   * addReadyz adds a health check to /readyz. It throws if an argument is invalid, if another check of /readyz has this
   * name, or after `close`.
   */
  addReadyz(name: string, run: CheckFunction, options?: CheckOptions): void {
    this.readyz.add(this.#create('readyz', name, run, options));
    this.#warnings.noteReadyz({ name, run });
  }

  /** addOwnReadyz adds one of lameduck's own checks, which are listed in readyz.ts, to /readyz. */
  addOwnReadyz(check: OwnCheck): void {
    this.readyz.add(this.#createOwn(check), -Infinity, check.isPresent);
  }

  /**
   * addLivez adds a health check to /livez and /healthz. It throws if an argument is invalid, if another check of
   * /livez or /healthz has this name, or after `close`.
   */
  addLivez(name: string, run: CheckFunction, options?: CheckOptions): void {
    const check = this.#create('livez', name, run, options);
    this.#addTo([this.livez, this.healthz], check);
    this.#warnings.noteLivez({ name, run });
  }

  /**
   * addPostStartHook adds the check `poststarthook/<name>`, which fails until the hook has succeeded. /readyz and
   * /healthz have this check from the start. /livez has it only after `livezGracePeriod`, and never if
   * `livezGracePeriod` is 0.
   */
  addPostStartHook(name: string, isFinished: () => boolean): void {
    const { clock, livezGracePeriod } = this.#options;
    const check = this.#createOwn(reasons.postStartHook(name, isFinished));
    // `#addTo` throws if /healthz already has a check with this name. Every check of /livez is also in /healthz, so the
    // name is not in use in /livez either.
    this.#addTo([this.readyz, this.healthz], check);
    if (livezGracePeriod > 0) this.livez.add(check, clock.now() + livezGracePeriod);
  }

  /** After `close()`, no check can be added to /readyz, /livez or /healthz. */
  close(): void {
    for (const endpoint of this.#all) endpoint.close();
  }

  /** `stop()` stops the regular flushes of the log, on which the health check `log` depends. */
  stop(): void {
    this.#logCheck.stop();
  }

  /** `answer()` returns the response to a probe. It returns undefined if the URL is not a probe URL (P-080). */
  answer(url: string): Answer | Promise<Answer> | undefined {
    // Most requests are not probes. So test first whether the path begins with the letter of a probe path: `r`, `l` or
    // `h`. Parse only such a URL.
    const letter = url.charCodeAt(1) | 0x20;
    if (letter !== r && letter !== l && letter !== h) return undefined;
    const asked = parseProbeUrl(url);
    if (asked === undefined) return undefined;
    return this[asked.endpoint].answer(asked.path, new URLSearchParams(asked.query));
  }

  #createOwn({ name, run }: OwnCheck): Check {
    return new Check(name, run, this.#options);
  }

  #create(kind: EndpointName, name: string, run: CheckFunction, options: CheckOptions | undefined): Check {
    checkName(`a ${kind} check`, name);
    const what = `${kind} check "${name}"`;
    checkFunction(what, run);
    checkOptions(what, options, ['group']);
    if (options?.group !== undefined) checkName(`the group of ${what}`, options.group);
    return new Check(name, run, this.#options, options);
  }

  // Adds a check to several endpoints. If one endpoint already has a check with the same name, throws before the check
  // is added to any endpoint.
  #addTo(endpoints: readonly Endpoint[], check: Check): void {
    for (const endpoint of endpoints) endpoint.checkFree(check.name);
    for (const endpoint of endpoints) endpoint.add(check);
  }
}

const r = 0x72;
const l = 0x6c;
const h = 0x68;
