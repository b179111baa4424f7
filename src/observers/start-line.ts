// The fields of the start line, which have a limit: what does not fit is counted.
import { version } from '../version.ts';

/** StartReport is what the start line says. */
export interface StartReport {
  readonly budgetSum: string;
  readonly addresses: readonly string[];
  /** The settings that are set and not in the sum. */
  readonly settings: Readonly<Record<string, string>>;
}

// The most bytes of the line on standard output, so that it can be read at a glance.
const mostBytes = 600;

/** startDetails returns the fields of the start line. `bytesOf` is the length of the line with these fields. */
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
