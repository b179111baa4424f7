// The page of error codes.

/** errorsPage lists each code with its cause and remedy. */
export function errorsPage(codes: Readonly<Record<string, { cause: string; remedy: string }>>): string {
  const sections = Object.entries(codes).flatMap(([code, { cause, remedy }]) => [
    '',
    `## ${code}`,
    '',
    cause,
    '',
    `**What to do:** ${remedy}`,
  ]);
  return [...opening, ...sections, ''].join('\n');
}

const opening = [
  '# Errors',
  '',
  'Written by `npm run docs` from `src/errors.ts`: do not edit it. Every error that lameduck throws is a `LameduckError`',
  'with one of these codes in `code`. A code keeps its meaning and is never used again for another.',
];
