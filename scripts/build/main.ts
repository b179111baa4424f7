// `npm run build`: writes `dist`. Unchanged files are not written again, because programs may be running from them.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { declarations } from './declarations.ts';
import { commonJs } from './common-js.ts';
import { command, ecmaScript } from './ecma-script.ts';
import { root } from './sources.ts';

const dist = join(root, 'dist');
const graph = await ecmaScript();
const files = new Map([...graph.files, ...(await commonJs(graph.metafile)), ...(await command()), ...declarations()]);

for (const [name, code] of files) {
  const text = withOwnNames(code);
  const path = join(dist, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
removeOthers(dist);

// Replaces `for…in`, with which the code of esbuild lists the names of exports, by Object.keys(). If a program has
// added an enumerable property to Object.prototype, `for…in` would also list this property, and `require('lameduck')`
// would throw.
function withOwnNames(code: string): string {
  return code.replaceAll(/for \(var (name\d*) in all\)/g, 'for (var $1 of Object.keys(all))');
}

function removeOthers(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeOthers(path);
    else if (!files.has(relative(dist, path))) rmSync(path);
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
