// `lameduck inspect`: prints the state of a running process, changes its readiness or begins its shutdown.
import { systemClock, wait } from '../../clock.ts';
import { usualDebugSocketPath, type Action, type Inspection } from '../../inspection.ts';
import { valueOf, type Environment } from '../../settings/environment.ts';
import { standardError, standardOutput, writeOut } from '../../standard-output.ts';
import { say } from '../command.ts';
import { optionLines, readArguments, refuse } from '../options.ts';
import { pageOf, signalLines } from './page.ts';
import { inspect as ask, send, Unanswered } from './socket-client.ts';

const answered = 0;
const unanswered = 1;

// Milliseconds between two requests that `lameduck inspect --watch` sends to the debug socket.
const period = 200;

const options = {
  socket: {
    type: 'string',
    value: 'PATH',
    help: `the path of the debug socket; default: LAMEDUCK_DEBUG_SOCKET_PATH, else ${usualDebugSocketPath}`,
  },
  watch: { type: 'boolean', help: 'print the state again and again until the process has ended' },
  stack: { type: 'boolean', help: 'print the stack of a blocked main thread; requires debugSocketStack=true' },
  unready: { type: 'boolean', help: 'make /readyz fail; requests are still served' },
  ready: { type: 'boolean', help: 'make /readyz pass again after --unready' },
  shutdown: { type: 'boolean', help: 'begin the shutdown' },
  help: { type: 'boolean', help: 'print this text' },
} as const;

const usage = [
  'Examples:',
  '  lameduck inspect',
  '  lameduck inspect --shutdown --watch',
  '  kubectl exec POD -- /nodejs/bin/node node_modules/lameduck/dist/cli/main.js inspect',
  '',
  'Prints what a running process does and what its shutdown waits for, also while its event loop is blocked.',
  'Exit code: 0 the process has answered, 1 there was no answer, 2 invalid usage.',
  '',
  'Options:',
  ...optionLines(options),
].join('\n');

const paths: Readonly<Record<Action, string>> = {
  unready: '/ready?state=unready',
  ready: '/ready?state=ready',
  shutdown: '/shutdown',
};

/**
 * `inspect()` resolves with exit code 0 if the process has answered, with 1 if there was no answer, and with 2 for
 * invalid usage.
 */
export async function inspect(args: readonly string[], environment: Environment): Promise<number> {
  const parsed = readArguments(args, options);
  if ('problem' in parsed) return refuse('inspect', parsed.problem);
  const { values, positionals } = parsed;
  if (values['help'] === true) {
    say(standardOutput, usage);
    return answered;
  }
  if (positionals.length > 0) return refuse('inspect', `unexpected argument ${JSON.stringify(positionals[0])}`);
  const actions = (['unready', 'ready', 'shutdown'] as const).filter((name) => values[name] === true);
  const [action, ...others] = actions;
  if (others.length > 0) return refuse('inspect', `--${actions.join(' and --')} cannot be combined`);
  const given = values['socket'] ?? valueOf(environment, 'LAMEDUCK_DEBUG_SOCKET_PATH');
  const path = typeof given === 'string' ? given : usualDebugSocketPath;
  try {
    if (action !== undefined) await act(path, action);
    if (values['watch'] === true) await watch(path, values['stack'] === true);
    else if (action === undefined) print(pageOf(await ask(path, values['stack'] === true)));
    return answered;
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    say(standardError, `lameduck inspect: ${error.message}`);
    return unanswered;
  }
}

async function act(path: string, action: Action): Promise<void> {
  const { isBlocked } = JSON.parse(await send(path, paths[action], 'POST')) as { readonly isBlocked: boolean };
  print([
    isBlocked
      ? `${action} requested: the process does this as soon as its event loop is no longer blocked`
      : `${action} requested`,
  ]);
}

// Prints the state of the process repeatedly. On a terminal, it shows one page and updates this page. Any other output
// gets the page once, and then one line for each new lifecycle signal.
async function watch(path: string, withStack: boolean): Promise<void> {
  let found = await ask(path, withStack);
  let page = fitted(pageOf(found));
  print(page);
  for (;;) {
    await wait(systemClock, period);
    const next = await askAgain(path, withStack);
    if (next === undefined) break;
    if (process.stdout.isTTY) {
      writeOut(standardOutput, `\x1b[${String(page.length)}A\x1b[J`);
      print((page = fitted(pageOf(next))));
    } else print(signalLines(next).slice(found.signals.length));
    found = next;
  }
  print(['the process has ended']);
}

async function askAgain(path: string, withStack: boolean): Promise<Inspection | undefined> {
  try {
    return await ask(path, withStack);
  } catch (error) {
    if (error instanceof Unanswered) return undefined;
    throw error;
  }
}

// Cuts the lines that `lameduck inspect --watch` prints to the size of the terminal. If a line wrapped, the next print
// would not overwrite all rows of the terminal that this line covers.
function fitted(page: readonly string[]): string[] {
  const { columns, rows, isTTY } = process.stdout;
  if (!isTTY) return [...page];
  return page.slice(0, rows - 1).map((line) => line.slice(0, columns - 1));
}

function print(lines: readonly string[]): void {
  if (lines.length > 0) writeOut(standardOutput, `${lines.join('\n')}\n`);
}
