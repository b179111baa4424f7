// Formats numbers for the console and for the page of benchmarks.
import { median, type Estimate } from './statistics.ts';

/**
 * `signed()` formats a difference as whole numbers with signs, followed by its confidence interval: `+12 [+9, +15]`.
 */
export function signed({ value, low, high }: Estimate): string {
  return `${withSign(value)} [${withSign(low)}, ${withSign(high)}]`;
}

/** `ratio()` formats an estimate with its confidence interval. */
export function ratio({ value, low, high }: Estimate): string {
  return `${value.toFixed(4)} [${low.toFixed(4)}, ${high.toFixed(4)}]`;
}

/** `cells()` formats one row of a table. */
export function cells(...texts: readonly (string | number)[]): string {
  return `| ${texts.map(String).join(' | ')} |`;
}

/** `label()` formats the name of a compared package. It returns `bare` for the server that uses no such package. */
export function label(name: string, bare: string): string {
  if (name === 'bare') return bare;
  return name === 'lameduck' ? '**lameduck**' : `\`${name}\``;
}

/**
 * `range()` formats the median of the values, with the lowest and the highest value in brackets. If the lowest and the
 * highest value are equal, there are no brackets.
 */
export function range(values: readonly number[], digits = 0): string {
  const [least, middle, most] = [Math.min(...values), median(values), Math.max(...values)].map((value) =>
    value.toFixed(digits),
  );
  return least === most ? (middle as string) : `${String(middle)} (${String(least)} to ${String(most)})`;
}

function withSign(value: number): string {
  const text = value.toFixed(0).replace(/^-0$/, '0');
  return value > 0 && text !== '0' ? `+${text}` : text.replace('-', '−');
}
