// Writes docs/errors.md.

/** errorsPage lists each error code `LAMEDUCK_ERR_…` with the cause of the error and its remedy. */
export function errorsPage(codes: Readonly<Record<string, { cause: string; remedy: string }>>): string {
  const sections = Object.entries(codes).flatMap(([code, { cause, remedy }]) => [
    '',
    `## ${code}`,
    '',
    `**Cause of \`${code}\`:** ${cause}`,
    '',
    `**Remedy for \`${code}\`:** ${remedy}`,
  ]);
  return [...opening, ...sections, ''].join('\n');
}

const opening = [
  '# Errors',
  '',
  'Every error that lameduck throws is a `LameduckError` with one of these codes in `code`:',
  '',
  '```ts',
  "import { isLameduckError } from 'lameduck';",
  '',
  'try {',
  "  duck.addReadyzCheck('database', () => pool.isConnected());",
  '} catch (error) {',
  "  if (!isLameduckError(error) || error.code !== 'LAMEDUCK_ERR_NAME_TAKEN') throw error;",
  '}',
  '```',
  '',
  'A code keeps its meaning and is never used for a different error. `npm run docs` writes this page from `src/errors.ts`: do not edit the page.',
];
