// Lists all lint rules, in the order of their sections in docs/lint.md.
import type { Rule } from './rule.ts';
import { availabilityRules } from './rules/availability.ts';
import { containerRules } from './rules/containers.ts';
import { probeRules } from './rules/probes.ts';
import { rolloutRules } from './rules/rollouts.ts';
import { serviceRules } from './rules/services.ts';
import { timeRules } from './rules/time.ts';
import { typeRules } from './rules/types.ts';

/** lintRules contains every rule of `lameduck lint`. */
export const lintRules: readonly Rule[] = [
  ...timeRules,
  ...serviceRules,
  ...rolloutRules,
  ...probeRules,
  ...containerRules,
  ...availabilityRules,
  ...typeRules,
];
