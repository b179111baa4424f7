// Reads unquoted values of a manifest in the same way as sigs.k8s.io/yaml, the YAML library of kubectl. No side
// effects.
import type { ScalarTag, Tags } from 'yaml';

const withBase = /^0(?:[bB][01]+|[oO][0-7]+|[xX][\da-fA-F]+)$/;
const decimal = /^(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const withoutJson = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

// Converts a plain YAML scalar as kubectl does: returns a number, or the unchanged text if kubectl reads it as a
// string.
function resolve(text: string, onError: (message: string) => void): number | string {
  if (withoutJson.test(text)) onError(`kubectl cannot convert ${text} to JSON`);
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '');
  const number = numberOf(plain.replace(/^[-+]/, ''));
  if (number === undefined) return text;
  return plain.startsWith('-') ? 0 - number : number;
}

function numberOf(digits: string): number | undefined {
  const whole = digits.replace(/^0(?=[0-7]+$)/, '0o');
  // A number in YAML with the prefix `0b`, `0o` or `0x` has at most 64 bits.
  if (withBase.test(whole) && Number(whole) <= 2 ** 64) return Number(whole);
  const number = decimal.test(digits) ? Number(digits) : Infinity;
  return Number.isFinite(number) ? number : undefined;
}

const tagOf = (type: 'int' | 'float'): ScalarTag => ({
  tag: `tag:yaml.org,2002:${type}`,
  default: true,
  test: /^[-+.\d]/,
  resolve,
});

/**
 * customTags replaces the number tags of the library yaml, which reads `e2` and `.` as NaN. It also removes the
 * dates and the base-60 numbers of YAML 1.1, which kubectl does not support.
 */
export const customTags = (tags: Tags): Tags => [
  ...tags.filter((tag) => typeof tag === 'string' || !/:(?:int|float|timestamp)$/.test(tag.tag)),
  tagOf('int'),
  tagOf('float'),
];
