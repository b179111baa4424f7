// Options of a command: one table gives the arguments that are valid and the text of `--help`.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { standardError } from '../standard-output.ts';
import { say } from './command.ts';

/** Option is one option of a command. */
export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** How the value is shown in the usage. */
  readonly value?: string;
  readonly help: string;
}

/** Options are the options of a command, by their names. */
export type Options = Readonly<Record<string, Option>>;

/** Arguments are what `parseArgs` returns with its tokens. */
export type Arguments = ReturnType<
  typeof parseArgs<{ args: string[]; options: ParseArgsConfig['options'] & {}; allowPositionals: true; tokens: true }>
>;

/** readArguments returns the arguments of a command, or what is wrong with them. */
export function readArguments(args: readonly string[], options: Options): Arguments | { readonly problem: string } {
  try {
    const config = { args: [...args], options: options as ParseArgsConfig['options'] & {} };
    return parseArgs({ ...config, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    return { problem: (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ') };
  }
}

/** optionLines are the lines of `--help` about the options. */
export function optionLines(options: Options): string[] {
  return Object.entries(options).map(([name, { value = '', help }]) => `  ${`--${name} ${value}`.padEnd(26)}${help}`);
}

/** badUsage is the exit code of a command whose arguments cannot be used. */
export const badUsage = 2;

/** refuse says why a command cannot use its arguments, and returns `badUsage`. */
export function refuse(command: string, problem: string): number {
  say(standardError, `lameduck ${command}: ${problem}\nlameduck ${command} --help shows examples`);
  return badUsage;
}
