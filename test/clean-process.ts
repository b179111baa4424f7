// Loaded with --import into every test file. The run fails on a process warning, such as a leaked listener or a
// deprecated call. It also fails if something keeps the process alive after the last test of the file.
import { after } from 'node:test';

const leftoverLimit = 5_000;
let hasWarned = false;

function onWarning(warning: Error): void {
  if (isTypeStripping(warning)) return;
  hasWarned = true;
  throw warning;
}

// Node 22 prints this warning once for any .ts file. A warning about any other experimental feature fails the run.
function isTypeStripping(warning: Error): boolean {
  return warning.name === 'ExperimentalWarning' && warning.message.startsWith('Type Stripping');
}

process.on('warning', onWarning);

// A warning after the last test is thrown at the exit, because no test could report it.
process.on('exit', () => {
  if (hasWarned) process.exitCode = 1;
});

// The process that only collects the results of the files has no tests, and `after` would add one.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    // The timer is unreferenced, so it fires only if something else keeps the process alive. The runner itself would
    // wait forever.
    setTimeout(() => {
      console.error(`still open after the last test: ${process.getActiveResourcesInfo().join(', ')}`);
      process.exit(1);
    }, leftoverLimit).unref();
  });
}
