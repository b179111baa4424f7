// This file is loaded with --import into every test file. The test run fails if Node emits a process warning, for
// example about a leaked listener or a deprecated call. It also fails if something keeps the process alive after the
// last test of the file.
import { after } from 'node:test';

const leftoverLimit = 5_000;
let hasWarned = false;

function onWarning(warning: Error): void {
  if (isTypeStripping(warning)) return;
  hasWarned = true;
  throw warning;
}

// When Node 22 loads the first .ts file, it warns that type stripping is experimental. A warning about any other
// experimental feature fails the test run.
function isTypeStripping(warning: Error): boolean {
  return warning.name === 'ExperimentalWarning' && warning.message.startsWith('Type Stripping');
}

process.on('warning', onWarning);

// If Node emits a warning after the last test, no test can report the warning. So make the test process exit with an
// error.
process.on('exit', () => {
  if (hasWarned) process.exitCode = 1;
});

// Do not call `after()` in the parent process of `node --test`, which only collects the results of the test files.
// There, `after()` would create a test.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    // This timer is unref'ed, so it fires only if something else keeps the process alive after the last test. Without
    // this timer, the test runner would wait forever for such a process.
    setTimeout(() => {
      console.error(`still open after the last test: ${process.getActiveResourcesInfo().join(', ')}`);
      process.exit(1);
    }, leftoverLimit).unref();
  });
}
