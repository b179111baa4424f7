// `lameduck rehearse`: runs the scenarios of a plan one after another and reports the results. Open this file first:
// scenario-run.ts runs one scenario, kubelet.ts its pod, and scenario-load.ts its clients.
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../clock.ts';
import { onInterrupt } from '../../process/command.ts';
import { standardError, standardOutput } from '../../standard-output.ts';
import { say } from '../command.ts';
import { badUsage, refuse } from '../options.ts';
import type { Environment } from '../../settings/environment.ts';
import type { RehearsedManifest } from './changes.ts';
import { findIsolation, killContainers, type Isolation } from './container.ts';
import { EventLog } from './event-log.ts';
import { readManifest, type ManifestReading } from './manifest.ts';
import { readPlan, usage, type Plan } from './plan.ts';
import {
  containerDefaults,
  defaultGracePeriodSeconds,
  probeDefaults,
  type ContainerSpec,
  type PodSpec,
} from './pod.ts';
import { loadPort } from './port.ts';
import { seededRandom } from './random.ts';
import { page } from './report.ts';
import { resultOf, scenarioResult, type Result, type ScenarioResult, type Verdict } from './result.ts';
import { longestRest, longestStart, ScenarioRun } from './scenario-run.ts';
import { scenarios, type Scenario, type ScenarioName } from './scenarios.ts';
import { Terminal } from './terminal.ts';

const codes: Readonly<Record<Verdict, number>> = { clean: 0, lost: 1, withheld: 3 };

/**
 * rehearse resolves with exit code 0 if no request was lost, and with 1 if requests were lost or refused. It resolves with
 * 2 for invalid usage or if a file cannot be written, and with 3 if there is no verdict.
 */
export async function rehearse(args: readonly string[], environment: Environment): Promise<number> {
  const plan = readPlan(args, randomInt(2 ** 32 - 1));
  if ('help' in plan) {
    say(standardOutput, usage);
    return 0;
  }
  if ('problem' in plan) return refuse('rehearse', plan.problem);
  const pod = readPod(plan);
  const problem = 'problem' in pod ? pod.problem : [plan.json, plan.report].map(unwritable).find(Boolean);
  if (problem !== undefined || 'problem' in pod) return refuse('rehearse', problem ?? '');
  const terminal = new Terminal(process.stdout);
  for (const warning of pod.warnings) terminal.line(`warning: ${warning}`, 'yellow');
  const interrupted = new AbortController();
  const stopListening = onInterrupt(() => {
    interrupted.abort();
  }, killContainers);
  // If standard output is closed, continue the rehearsal only if the option `--json` or `--report` writes the result to
  // a file.
  process.stdout.on('error', () => {
    if (plan.json === undefined && plan.report === undefined) interrupted.abort();
  });
  const result = await runAll({ plan, ...pod, environment, terminal, interrupted: interrupted.signal });
  stopListening();
  terminal.table(result);
  const failures = [
    write(plan.json, () => `${JSON.stringify(result, null, 2)}\n`),
    write(plan.report, () => page(result)),
  ].filter((failure) => failure !== undefined);
  for (const failure of failures) say(standardError, `lameduck rehearse: ${failure}`);
  return failures.length > 0 ? badUsage : codes[result.verdict];
}

// Writes an output file. Returns undefined, or the reason why the file cannot be written.
function write(file: string | undefined, content: () => string): string | undefined {
  try {
    if (file !== undefined) writeFileSync(file, content());
    return undefined;
  } catch (error) {
    return writeFailure(file, error);
  }
}

function writeFailure(file: string | undefined, error: unknown): string {
  return `unable to write ${String(file)}: ${error instanceof Error ? error.message : String(error)}`;
}

// Returns why an output file cannot be written, or undefined if it can. The file is checked before the rehearsal,
// because a rehearsal takes minutes.
function unwritable(file: string | undefined): string | undefined {
  try {
    if (file !== undefined) closeSync(openSync(file, 'a'));
    return undefined;
  } catch (error) {
    return writeFailure(file, error);
  }
}

interface Rehearsal {
  readonly plan: Plan;
  readonly pod: PodSpec;
  readonly manifest?: RehearsedManifest;
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly interrupted: AbortSignal;
}

async function runAll(rehearsal: Rehearsal): Promise<Result> {
  const { plan, manifest, terminal, interrupted } = rehearsal;
  const isolation = findIsolation();
  if (isolation.length === 0)
    terminal.line('this system allows no PID namespace, so the command does not run as PID 1', 'yellow');
  const planned = plan.scenarios.length * plan.propagations.length;
  const isOnly = planned === 1;
  const results: ScenarioResult[] = [];
  for (const name of plan.scenarios) {
    for (const propagation of plan.propagations) {
      if (interrupted.aborted) continue;
      const result = await runOne(rehearsal, name, propagation, isolation);
      results.push(result);
      if (!isOnly) terminal.verdict(result);
    }
  }
  const result = resultOf(results, { ...plan, manifest, leftOut: planned - results.length });
  // If the rehearsal has one scenario, the verdict of the scenario also lists the proposed manifest changes. With
  // several scenarios, the changes follow from all of them, so only the overall result lists them.
  if (isOnly) for (const scenario of result.scenarios) terminal.verdict(scenario);
  return result;
}

async function runOne(
  { plan, pod, environment, terminal, interrupted }: Rehearsal,
  name: ScenarioName,
  propagation: number,
  isolation: Isolation,
): Promise<ScenarioResult> {
  const scenario: Scenario = scenarios[name];
  const start = scenario.isWhileStarting === true ? 0 : longestStart;
  const rest = longestRest(scenario, pod, propagation);
  terminal.line();
  terminal.line(`${name}: ${scenario.title} (${limitText(start, rest)})`, 'bold');
  terminal.begin(start, rest);
  const log = new EventLog(() => systemClock.now());
  log.onEvent((event) => {
    terminal.onEvent(event);
  });
  const { rate, connections, requests, retry, longPoll, stream, upload, webSocket, http2, seed } = plan;
  const run = new ScenarioRun({
    scenario,
    pod,
    port: loadPort(plan.port, pod, environment),
    propagation,
    isolation,
    log,
    interrupted,
    load: { rate, connections, requests, retry, longPoll, stream, upload, webSocket, http2, seed },
    random: seededRandom(seed),
    // The kubelet sets these variables in every container (K-185). Programs use the variables of the kubernetes Service
    // to detect that they run in a cluster. In a pod, HOSTNAME resolves to the address of the pod, and the server of
    // Next.js listens on this address. In a rehearsal, HOSTNAME is 0.0.0.0, because the name of this machine may not
    // resolve to an address that the clients use.
    environment: {
      ...environment,
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      KUBERNETES_SERVICE_PORT: '443',
      HOSTNAME: '0.0.0.0',
    },
  });
  await run.run();
  terminal.end();
  return scenarioResult({ ...scenario, name, propagationMs: propagation }, run.tallies, log.events);
}

// Returns the part of the output that says how long a scenario takes at most.
function limitText(start: number, rest: number): string {
  const after = `at most ${String(Math.ceil(rest / 1_000))} s`;
  if (start === 0) return `the scenario takes ${after}`;
  return `the scenario takes at most ${String(start / 1_000)} s until the pod is ready, and then ${after} until the scenario ends`;
}

type Reading = ManifestReading | { readonly pod: PodSpec; readonly warnings: readonly string[] };

function readPod({ manifest, command, commands, gracePeriodSeconds }: Plan): Reading {
  if (manifest === undefined) return { pod: defaultPod(command, gracePeriodSeconds), warnings: [] };
  let text: string;
  try {
    text = readFileSync(manifest === '-' ? 0 : manifest, 'utf8');
  } catch (error) {
    return {
      problem: `unable to read --manifest ${manifest}: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  const reading = readManifest(text, manifest === '-' ? 'standard input' : manifest, commands, command);
  if ('problem' in reading || gracePeriodSeconds === undefined) return reading;
  return { ...reading, pod: { ...reading.pod, terminationGracePeriodSeconds: gracePeriodSeconds } };
}

// Returns the pod that the rehearsal uses if no manifest is given. Its only container is ready as soon as the port of
// the container accepts connections.
function defaultPod(command: readonly string[], gracePeriodSeconds = defaultGracePeriodSeconds): PodSpec {
  const container: ContainerSpec = {
    ...containerDefaults,
    name: 'app',
    command,
    probes: [{ ...probeDefaults, type: 'readiness', periodSeconds: 1, handler: { kind: 'tcp', port: 0 } }],
    isDefault: true,
  };
  return {
    containers: [container],
    terminationGracePeriodSeconds: gracePeriodSeconds,
    restartPolicy: 'Always',
  };
}
