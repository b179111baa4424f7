// Formats numbers for the console and for the page of benchmarks.
import type { Estimate } from './statistics.ts';

/** signed formats an estimate in whole units, with its sign and its confidence interval. */
export function signed({ value, low, high }: Estimate): string {
  return `${withSign(value)} [${withSign(low)}, ${withSign(high)}]`;
}

/** ratio formats an estimate with its confidence interval. */
export function ratio({ value, low, high }: Estimate): string {
  return `${value.toFixed(4)} [${low.toFixed(4)}, ${high.toFixed(4)}]`;
}

function withSign(value: number): string {
  const text = value.toFixed(0).replace(/^-0$/, '0');
  return value > 0 && text !== '0' ? `+${text}` : text.replace('-', '−');
}
