#!/usr/bin/env node
// The command `lameduck`. It loads only the subcommand that is run.
import { endWith } from '../process/command.ts';
import { standardError, standardOutput } from '../standard-output.ts';
import { say, type Command } from './command.ts';

interface Entry {
  readonly help: string;
  readonly load: () => Promise<Command>;
}

const commands: Readonly<Record<string, Entry>> = {
  rehearse: {
    help: 'run a server as a kubelet does, stop it under load, and report lost requests',
    load: async () => (await import('./rehearsal/rehearse.ts')).rehearse,
  },
  lint: {
    help: 'find settings in manifests that lose requests',
    load: async () => (await import('./lint/lint.ts')).lint,
  },
  restarts: {
    help: 'show which pods and containers an apply or a kubelet upgrade restarts',
    load: async () => (await import('./restarts/restarts.ts')).restarts,
  },
  probe: {
    help: 'send one probe to the probe port or a gRPC health service, for example as an exec probe',
    load: async () => (await import('./probe.ts')).probe,
  },
  inspect: {
    help: 'print the state of a running process and what its shutdown waits for',
    load: async () => (await import('./inspect/inspect.ts')).inspect,
  },
  stop: {
    help: 'for a preStop hook: stop a program to which npm or a shell does not forward SIGTERM',
    load: async () => (await import('./stop.ts')).stop,
  },
};

const usage = [
  'Examples:',
  '  lameduck rehearse -- npm start',
  '  helm template shop ./chart | lameduck lint',
  '  lameduck probe readyz',
  '',
  'Commands:',
  ...Object.entries(commands).map(([name, { help }]) => `  ${name.padEnd(10)}${help}`),
  '',
  'lameduck COMMAND --help shows the examples and options of a command.',
].join('\n');

async function run([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h' || name === 'help') {
    say(standardOutput, usage);
    return 0;
  }
  const entry = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry !== undefined) return (await entry.load())(args, process.env);
  const problem = name === undefined ? 'expected a command' : `unknown command ${JSON.stringify(name)}`;
  say(standardError, `lameduck: ${problem}: ${Object.keys(commands).join(', ')}; lameduck --help shows examples`);
  return 2;
}

void run(process.argv.slice(2)).then(endWith);
