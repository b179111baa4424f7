// Writes scripts/docs/server-kinds.json from the test runs on each version of Node: which rules have passed on which
// kind of server. From that file, `npm run docs` writes the table in docs/conformance.md. With --check, this script
// writes nothing, and fails if the file and the runs differ.
//
//   write-server-kinds.ts FOLDER   reads what KINDS=FOLDER npm test and KINDS=FOLDER npm run test:matrix have written
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverKinds } from '../../test/support/adapters.ts';
import { file, majors, numbers, passedSoFar, type Passed } from './server-kinds.ts';

const [folder = '', ...flags] = process.argv.slice(2);
const runs = majors.map((major) => ({
  major,
  kinds: JSON.parse(readFileSync(join(folder, `${String(major)}.json`), 'utf8')) as Readonly<Record<string, string[]>>,
}));

const passed: Passed = Object.fromEntries(
  numbers.map((number) => [
    number,
    Object.fromEntries(
      serverKinds.flatMap((kind) => {
        const on = runs.filter(({ kinds }) => kinds[number]?.includes(kind)).map(({ major }) => major);
        return on.length === 0 ? [] : [[kind, on]];
      }),
    ),
  ]),
);

if (!flags.includes('--check')) writeFileSync(file, `${JSON.stringify(passed, undefined, 2)}\n`);
else if (JSON.stringify(passed) !== JSON.stringify(passedSoFar())) {
  for (const number of numbers) {
    const [kept, now] = [JSON.stringify(passedSoFar()[number] ?? {}), JSON.stringify(passed[number])];
    if (kept !== now) console.error(`${number}: scripts/docs/server-kinds.json has ${kept}, and this run ${now}`);
  }
  process.exitCode = 1;
}
