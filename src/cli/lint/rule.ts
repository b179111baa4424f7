// The types of a rule and of its findings. Pure.
import type { Path } from '../manifest/fields.ts';
import type { ManifestObject } from '../manifest/objects.ts';
import type { ProbeType } from '../rehearsal/streak.ts';
import type { Probe } from '../rehearsal/pod.ts';
import type { Container, Inventory, Workload } from './inventory.ts';

/** An error is a configuration that loses requests. Everything else is advice. */
export type Severity = 'error' | 'advice';

/** Found is one place where a rule is broken, and what to do about it. */
export interface Found {
  /** From the object, or from the container if the rule looks at containers. */
  readonly path: Path;
  readonly message: string;
  readonly remedy: string;
}

/** FoundIn is Found with its object. */
export interface FoundIn extends Found {
  readonly object: ManifestObject;
}

/** Rule is one row of the table of rules. Its section in docs/lint.md has the same name. */
export interface Rule {
  readonly name: string;
  readonly severity: Severity;
  readonly find: (inventory: Inventory) => readonly FoundIn[];
}

type Check<Subjects extends readonly unknown[]> = (...subjects: Subjects) => readonly Found[];

/** inWorkloads checks every workload. */
export function inWorkloads(check: Check<[Workload, Inventory]>): Rule['find'] {
  return (inventory) =>
    inventory.workloads.flatMap((one) => check(one, inventory).map((found) => ({ ...found, object: one.object })));
}

/** inContainers checks every container that runs as long as its pod. */
export function inContainers(check: Check<[Container, Workload, Inventory]>): Rule['find'] {
  return inWorkloads((workload, inventory) =>
    workload.containers.flatMap((container) =>
      check(container, workload, inventory).map((found) => ({ ...found, path: [...container.path, ...found.path] })),
    ),
  );
}

/** inServers checks the containers of workloads that do not end by themselves. */
export function inServers(check: Check<[Container, Workload, Inventory]>): Rule['find'] {
  return inContainers((container, workload, inventory) =>
    workload.isJob ? [] : check(container, workload, inventory),
  );
}

/** inProbes checks every probe. Paths are from the probe. */
export function inProbes(check: Check<[Probe, Container, Workload]>, types?: readonly ProbeType[]): Rule['find'] {
  return inContainers((container, workload) =>
    container.spec.probes
      .filter(({ type }) => types === undefined || types.includes(type))
      .flatMap((probe) =>
        check(probe, container, workload).map((found) => ({ ...found, path: [`${probe.type}Probe`, ...found.path] })),
      ),
  );
}

/** inObjects checks every object of some kinds. */
export function inObjects(kinds: readonly string[], check: Check<[ManifestObject, Inventory]>): Rule['find'] {
  return (inventory) =>
    inventory.objects
      .filter(({ kind }) => kinds.includes(kind))
      .flatMap((one) => check(one, inventory).map((found) => ({ ...found, object: one })));
}
