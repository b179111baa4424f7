import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

const source = new URL('../src/standard-output.ts', import.meta.url).href;

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/**
 * `run()` runs a program that calls `writeOut`. It reads the standard output of the program only after the program has
 * reported, on standard error, that the pipe is full.
 */
async function run(program: string): Promise<Ended> {
  const child = spawn(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    `import { standardError, standardOutput, writeOut } from ${JSON.stringify(source)};\n${program}`,
  ]);
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { stdout, stderr, code };
}

test('P-060 text that is written before process.exit() arrives completely, however late the reader begins', async () => {
  const { stdout, code } = await run(`
    process.stdout.write('');
    writeOut(standardError, 'about to write more than a pipe holds');
    for (let line = 0; line < 20_000; line++) writeOut(standardOutput, \`line \${line}\\n\`);
    process.exit(7);
  `);
  assert.equal(code, 7);
  assert.equal(stdout, Array.from({ length: 20_000 }, (_, line) => `line ${String(line)}\n`).join(''));
});

test('writing to a closed standard output causes no error', async () => {
  const { stderr, code } = await run(`
    import { closeSync } from 'node:fs';
    closeSync(standardOutput);
    writeOut(standardOutput, 'nobody reads this');
    writeOut(standardError, 'still here');
  `);
  assert.equal(stderr, 'still here');
  assert.equal(code, 0);
});

test('non-ASCII text that lameduck writes to standard output arrives completely', async () => {
  const { stderr } = await run(`writeOut(standardError, 'Grüße, 世界');`);
  assert.equal(stderr, 'Grüße, 世界');
});
