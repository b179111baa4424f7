#!/usr/bin/env node
// The command `lameduck`: it finds the subcommand, and loads nothing but that.
import { endWith } from '../process/end-with.ts';
import { standardError, standardOutput } from '../standard-output.ts';
import { say, type Command } from './command.ts';

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  probe: async () => (await import('./probe.ts')).probe,
  rehearse: async () => (await import('./rehearsal/rehearse.ts')).rehearse,
};

const usage = `usage: lameduck ${Object.keys(commands).join(' | ')} …; lameduck <command> --help says more`;

async function run([name = '', ...args]: readonly string[]): Promise<number> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load !== undefined) return (await load())(args, process.env);
  const isAsked = name === '--help' || name === 'help';
  say(isAsked ? standardOutput : standardError, usage);
  return isAsked ? 0 : 2;
}

void run(process.argv.slice(2)).then(endWith);
