// Compares Kubernetes quantities such as `500m`, `1Gi` and 0.5. No side effects.
const exponents: Readonly<Record<string, readonly [base: bigint, exponent: bigint]>> = {
  n: [10n, -9n],
  u: [10n, -6n],
  m: [10n, -3n],
  '': [10n, 0n],
  k: [10n, 3n],
  M: [10n, 6n],
  G: [10n, 9n],
  T: [10n, 12n],
  P: [10n, 15n],
  E: [10n, 18n],
  Ki: [2n, 10n],
  Mi: [2n, 20n],
  Gi: [2n, 30n],
  Ti: [2n, 40n],
  Pi: [2n, 50n],
  Ei: [2n, 60n],
};

// No valid quantity has more decimal places than this number, or more zeros at the end of its digits than this number.
const mostDigits = 40n;

/**
 * `quantity()` returns one text for all quantities that are equal. It returns a value that is not a quantity unchanged.
 */
export function quantity(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const match = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(String(value));
  if (match === null) return value;
  const [, sign = '', whole = '', fraction = '', power = '0', suffix = ''] = match;
  if (whole === '' && fraction === '') return value;
  const [base, exponent] = exponents[suffix] ?? [10n, 0n];
  const decimals = BigInt(power) + (base === 10n ? exponent : 0n) - BigInt(fraction.length);
  if (decimals < -mostDigits || decimals > mostDigits) return value;
  const units = BigInt(`${whole}${fraction}`) * 10n ** (decimals + mostDigits) * (base === 2n ? 2n ** exponent : 1n);
  const digits = String(units).padStart(Number(mostDigits) + 1, '0');
  const point = digits.length - Number(mostDigits);
  const written = `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0+$/, '');
  return `${sign === '-' ? '-' : ''}${written}`;
}
