// The fields of the log line `lifecycle started`. The length of this line is limited. If settings do not fit, they are
// left out, and the line says how many are missing.
import { version } from '../version.ts';

/** StartReport contains the facts for the log line `lifecycle started`. */
export interface StartReport {
  readonly budgetSum: string;
  readonly addresses: readonly string[];
  /**
   * `settings` contains the settings that were set in code or in the environment. It omits the settings that
   * `budgetSum` shows.
   */
  readonly settings: Readonly<Record<string, string>>;
}

// The maximum length of the log line `lifecycle started` on standard output, in bytes. The line is short, so that a
// person can read it at a glance.
const mostBytes = 600;

/**
 * startDetails returns the fields of the log line `lifecycle started`. `bytesOf` returns the length of the line with
 * the given fields.
 */
export function startDetails(
  { addresses, settings }: Pick<StartReport, 'addresses' | 'settings'>,
  bytesOf: (details: object) => number,
): object {
  let shown: Shown = { addresses: [], settings: [] };
  const entries = Object.entries(settings);
  const detailsOf = (some: Shown): object => ({
    version,
    addresses: some.addresses,
    ...omitted('addressesOmitted', addresses.length - some.addresses.length),
    settings: Object.fromEntries(some.settings),
    ...omitted('settingsOmitted', entries.length - some.settings.length),
  });
  const show = (more: Shown): void => {
    if (bytesOf(detailsOf(more)) <= mostBytes) shown = more;
  };
  for (const one of addresses) show({ ...shown, addresses: [...shown.addresses, one] });
  for (const one of entries) show({ ...shown, settings: [...shown.settings, one] });
  return detailsOf(shown);
}

interface Shown {
  readonly addresses: readonly string[];
  readonly settings: readonly (readonly [name: string, text: string])[];
}

function omitted(field: string, count: number): object {
  return count === 0 ? {} : { [field]: count };
}
