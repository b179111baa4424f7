// Writes the table of docs/register.md. .ci/register-programs runs this script with the path of the file that contains
// the measured results.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withPrograms, type Measured } from './register-table.ts';

const [results = ''] = process.argv.slice(2);
const page = join(import.meta.dirname, '..', '..', 'docs', 'register.md');
writeFileSync(page, withPrograms(readFileSync(page, 'utf8'), JSON.parse(readFileSync(results, 'utf8')) as Measured));
