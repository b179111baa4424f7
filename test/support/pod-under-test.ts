// A pod that runs as in `lameduck rehearse`, with real processes. Tests wait for its events.
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { findIsolation } from '../../src/cli/rehearsal/container.ts';
import { EventLog, type EventKind, type RehearsalEvent } from '../../src/cli/rehearsal/event-log.ts';
import { Kubelet, type PodState } from '../../src/cli/rehearsal/kubelet.ts';
import {
  containerDefaults,
  probeDefaults,
  type ContainerSpec,
  type PodSpec,
  type Probe,
} from '../../src/cli/rehearsal/pod.ts';
import { until } from './until.ts';

/**
 * `isolation` is the command line that runs a container in its own PID namespace. It is empty if this machine cannot
 * create a PID namespace.
 */
export const isolation = findIsolation();

/**
 * whyNoNamespace is false if this machine can create PID namespaces. Otherwise, it is the reason to skip a test that
 * needs a PID namespace.
 */
export const whyNoNamespace = isolation.length === 0 ? 'no PID namespace can be made here' : false;

/** nodeProgram returns a command line that runs `source` as a Node program. */
export function nodeProgram(source: string): readonly string[] {
  return [process.execPath, '--input-type=module', '--eval', source];
}

/** containerSpec adds the default values to the fields of a container. */
export function containerSpec(given: Partial<ContainerSpec> & Pick<ContainerSpec, 'command'>): ContainerSpec {
  return { ...containerDefaults, name: 'app', ...given };
}

// On a busy machine, the program `true` of an exec probe may take longer than the default timeout of one second. So the
// timeout of the tested probes is longer.
const timeoutSeconds = 60;

/** probeSpec adds the default values to the fields of a probe. The probe runs every second. */
export function probeSpec(given: Partial<Probe> & Pick<Probe, 'type' | 'handler'>): Probe {
  return { ...probeDefaults, periodSeconds: 1, timeoutSeconds, failureThreshold: 1, ...given };
}

/** PodUnderTest is a running simulated pod, with the events that the rehearsal has logged for this pod. */
export class PodUnderTest {
  readonly log = new EventLog(() => systemClock.now());
  readonly states: PodState[] = [];
  readonly kubelet: Kubelet;

  private constructor(pod: PodSpec, backoffScale: number) {
    this.kubelet = new Kubelet({
      pod,
      log: this.log,
      host: () => '127.0.0.1',
      isolation,
      environment: process.env,
      backoffScale,
      onPodChange: (state) => this.states.push(state),
    });
  }

  static start(t: TestContext, given: Partial<PodSpec> & Pick<PodSpec, 'containers'>, backoffScale = 1): PodUnderTest {
    const pod = { terminationGracePeriodSeconds: 5, restartPolicy: 'Always', ...given } as const;
    const started = new PodUnderTest(pod, backoffScale);
    t.after(() => started.kubelet.destroy());
    started.kubelet.start();
    return started;
  }

  /**
   * `event()` resolves with the first event of a kind for which `matches` returns true. If the log already has this
   * event, `event()` resolves at once.
   */
  event(kind: EventKind, matches: (event: RehearsalEvent) => boolean = () => true): Promise<RehearsalEvent> {
    const isMatch = (event: RehearsalEvent): boolean => event.kind === kind && matches(event);
    const found = this.log.events.find(isMatch);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      this.log.onEvent((event) => {
        if (isMatch(event)) resolve(event);
      });
    });
  }

  /** `output()` resolves when the container has printed `text`. */
  async output(text: string): Promise<void> {
    await until(() => this.kubelet.main?.output.includes(text) === true);
  }
}
