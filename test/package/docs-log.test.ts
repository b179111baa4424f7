// Tests that docs/log.md lists the messages of the log, and the fields of the final log line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lameduck } from '../../src/index.ts';
import type { Logger } from '../../src/observers/logger.ts';
import { createLogging } from '../../src/observers/logging.ts';
import { finalLine } from '../../src/probe-worker/blocked-process-end.ts';
import { stallLine } from '../../src/probe-worker/stall-report.ts';
import { blocksIn, firstColumn, readPage, tablesIn } from '../support/markdown.ts';
import { usualLog } from '../support/usual-log.ts';

const page = readPage('docs/log.md');

interface ThreadLine {
  readonly level: number;
  readonly msg: string;
}

/** Records the level of each log message, without the part after the colon, which varies. */
class Recorder implements Logger {
  readonly levels = new Map<string, string>();
  readonly debug = this.#keep('debug');
  readonly info = this.#keep('info');
  readonly warn = this.#keep('warn');
  readonly error = this.#keep('error');

  #keep(level: string) {
    return (_details: object, message: string): void => {
      this.levels.set(message.replace(/:.*/, ': …'), level);
    };
  }
}

test('docs/log.md lists the messages that lameduck logs, with their levels', async () => {
  const recorder = new Recorder();
  const duck = lameduck([], { logger: recorder });
  await duck.signals.hasBeenReady.signaled;
  const record = await duck.shutdown('the log is documented');
  const error = new Error('broken');
  const logging = createLogging(recorder, { ...usualLog, logLevel: 'debug' });
  logging.onCheckChange('readyz', 'database', error);
  logging.onCheckChange('readyz', 'database', undefined);
  logging.onHookEnd({ kind: 'destroy', name: 'pool', durationMs: 1 });
  logging.onHookFailure({ kind: 'destroy', name: 'pool', error });
  logging.onStepFailure({ step: 'stop listening', error });
  logging.onUncaughtError(error);
  logging.onListenersHeld('SIGTERM', 1);
  logging.onHeldOpen(['Timeout']);
  logging.onUnfinished([{ method: 'GET', route: '/report', ageMs: 1, peer: '' }]);
  logging.onUnfinished([{ method: '*', route: '*', ageMs: 1, peer: '', unacknowledgedBytes: 1 }]);
  logging.onProbePort('[::]:8081');
  logging.onProbePortYield(8081);
  logging.onProbeThreadFailure(error);
  logging.onProbePortFailure(error);
  logging.onStallEnd(1);
  logging.onAuditFailure('/audit.log', error);
  logging.onDebugSocket('/run/lameduck/lameduck.sock');
  logging.onDebugSocketFailure('/run/lameduck/lameduck.sock', error);
  logging.onDebugSocketRequest('shutdown');
  for (const outcome of ['clean', 'failed', 'killed', 'never_ready'] as const)
    logging.onPreviousRun({ outcome, phase: '' });
  logging.onPreviousRunUnknown('/run/lameduck/checkpoint.json', error);
  logging.onCheckpointFailure('/run/lameduck/checkpoint.json', error);
  logging.onEnd(record);
  // lameduck writes the stall line and the final line directly to a standard stream, and not through the logger.
  for (const text of [
    stallLine(1, { readyzStallLimit: 1, livezStallLimit: 2, logFormat: 'json' }),
    finalLine(record, 'json'),
  ]) {
    const { level, msg } = JSON.parse(text) as ThreadLine;
    recorder[level === 40 ? 'warn' : 'error']({}, msg);
  }

  const [, ...rows] = tablesIn(page).find(([head]) => head?.[0] === 'message') ?? [];
  const documented = rows.map(([message = '', level = '']) => [message.replaceAll('`', ''), level] as const);
  assert.deepEqual(Object.fromEntries(documented), Object.fromEntries(recorder.levels));
});

test('docs/log.md lists the fields of the final log line', async () => {
  const duck = lameduck([], { logger: new Recorder(), auditLogPath: '/dev/null' });
  await duck.signals.hasBeenReady.signaled;
  const record = await duck.shutdown('the log is documented');

  const [example] = blocksIn(page).filter(({ language }) => language === 'json');
  const shown = JSON.parse(example?.text ?? '') as typeof record;
  assert.deepEqual(Object.keys(shown), Object.keys(record));
  // Only a primary of node:cluster has the field `workers`, and only a main thread has the field `threads`.
  const fields = firstColumn(page, 'field of the final line').filter(
    (field) => field !== 'workers' && field !== 'threads',
  );
  assert.deepEqual(fields, Object.keys(record));
  assert.deepEqual(Object.keys(shown.requests), Object.keys(record.requests));
  assert.deepEqual(new Set(Object.keys(shown.phases)), new Set(Object.keys(record.phases)));
  assert.equal(shown.schema, record.schema);
});
