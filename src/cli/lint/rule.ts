// The types of lint rules and of their findings. No side effects.
import type { Path } from '../manifest/fields.ts';
import type { ManifestObject } from '../manifest/objects.ts';
import type { ProbeType } from '../rehearsal/streak.ts';
import type { Probe } from '../rehearsal/pod.ts';
import type { Container, Inventory, Workload } from './inventory.ts';

/** Severity is `error` for a configuration that loses requests, and `advice` for everything else. */
export type Severity = 'error' | 'advice';

/** Found is one place in a manifest that breaks a lint rule, with a message and a remedy. */
export interface Found {
  /**
   * `path` leads to the field that breaks the rule, from the object or, for a rule about containers, from the
   * container.
   */
  readonly path: Path;
  readonly message: string;
  readonly remedy: string;
}

/** FoundIn is a place that breaks a lint rule, together with the Kubernetes object that contains this place. */
export interface FoundIn extends Found {
  readonly object: ManifestObject;
}

/** Rule is one lint rule. Its section in docs/lint.md has the same name. */
export interface Rule {
  readonly name: string;
  readonly severity: Severity;
  readonly find: (inventory: Inventory) => readonly FoundIn[];
}

type Check<Subjects extends readonly unknown[]> = (...subjects: Subjects) => readonly Found[];

/** inWorkloads returns the `find` function of a lint rule that calls `check` for every workload. */
export function inWorkloads(check: Check<[Workload, Inventory]>): Rule['find'] {
  return (inventory) =>
    inventory.workloads.flatMap((one) => check(one, inventory).map((found) => ({ ...found, object: one.object })));
}

/**
 * inContainers makes a rule that checks regular containers and sidecars, but no init container that ends before them.
 */
export function inContainers(check: Check<[Container, Workload, Inventory]>): Rule['find'] {
  return inWorkloads((workload, inventory) =>
    workload.containers.flatMap((container) =>
      check(container, workload, inventory).map((found) => ({ ...found, path: [...container.path, ...found.path] })),
    ),
  );
}

/**
 * inServers returns the `find` function of a lint rule that calls `check` for each container. It omits the containers
 * of jobs, because the pods of a job end on their own.
 */
export function inServers(check: Check<[Container, Workload, Inventory]>): Rule['find'] {
  return inContainers((container, workload, inventory) =>
    workload.isJob ? [] : check(container, workload, inventory),
  );
}

/**
 * inProbes makes a lint rule from a check of one probe. The `path` in a finding of `check` begins at the field of the
 * probe.
 */
export function inProbes(
  check: Check<[Probe, Container, Workload, Inventory]>,
  types?: readonly ProbeType[],
): Rule['find'] {
  return inContainers((container, workload, inventory) =>
    container.spec.probes
      .filter(({ type }) => types === undefined || types.includes(type))
      .flatMap((probe) =>
        check(probe, container, workload, inventory).map((found) => ({
          ...found,
          path: [`${probe.type}Probe`, ...found.path],
        })),
      ),
  );
}

/** inObjects returns the `find` function of a lint rule that calls `check` for every object of the given kinds. */
export function inObjects(kinds: readonly string[], check: Check<[ManifestObject, Inventory]>): Rule['find'] {
  return (inventory) =>
    inventory.objects
      .filter(({ kind }) => kinds.includes(kind))
      .flatMap((one) => check(one, inventory).map((found) => ({ ...found, object: one })));
}
