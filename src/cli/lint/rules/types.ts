// The lint rule about fields whose value has the wrong type.
import { valueText, variableIn } from '../../manifest/fields.ts';
import { mistypedIn } from '../field-types.ts';
import type { Rule } from '../rule.ts';

/** typeRules check the types of the fields that the other lint rules read. */
export const typeRules: readonly Rule[] = [
  {
    name: 'wrong-type',
    severity: 'error',
    find: ({ objects }) =>
      objects
        .filter(({ hasPlaceholder }) => !hasPlaceholder)
        .flatMap((object) =>
          mistypedIn(object).map(({ path, expected, value }) => ({
            object,
            path,
            message: `The value must be ${expected}, got ${valueText(value, 80)}. The API server rejects the object.`,
            remedy: remedyFor(value, expected),
          })),
        ),
  },
];

function remedyFor(value: unknown, expected: string): string {
  const variable = variableIn(value);
  return variable === undefined
    ? `Change the value to ${expected}. In YAML, a value in quotes is a string.`
    : `Substitute the variable ${variable} before the lint: run envsubst, helm template or kustomize build first.`;
}
