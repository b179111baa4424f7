// Reads the options of a subcommand. One table defines both the valid arguments and the text of `--help`.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { standardError } from '../standard-output.ts';
import { say } from './command.ts';

export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** `value` is the placeholder for the option's value in the output of `--help`, such as FILE. */
  readonly value?: string;
  readonly help: string;
}

/** Options maps the name of each option of a subcommand to its description. */
export type Options = Readonly<Record<string, Option>>;

/** Arguments are the parsed arguments. `tokens` has each argument in order, as `parseArgs` returns it. */
export type Arguments = ReturnType<
  typeof parseArgs<{ args: string[]; options: ParseArgsConfig['options'] & {}; allowPositionals: true; tokens: true }>
>;

/**
 * readArguments parses the arguments of a subcommand. If they are invalid, it returns the problem as a text. `-h` is short
 * for `--help`.
 */
export function readArguments(args: readonly string[], options: Options): Arguments | { readonly problem: string } {
  try {
    const shortened = Object.entries(options).map(([name, option]) => [
      name,
      name === 'help' ? { ...option, short: 'h' } : option,
    ]);
    const config = { args: [...args], options: Object.fromEntries(shortened) as ParseArgsConfig['options'] & {} };
    return parseArgs({ ...config, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    return { problem: (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ') };
  }
}

/** optionLines returns the lines of `--help` that describe the options. */
export function optionLines(options: Options): string[] {
  return Object.entries(options).map(([name, { value = '', help }]) => `  ${`--${name} ${value}`.padEnd(24)}  ${help}`);
}

/** badUsage is the exit code of a subcommand with invalid arguments. */
export const badUsage = 2;

/** `refuse()` prints the problem with the arguments to standard error and returns the exit code `badUsage`. */
export function refuse(command: string, problem: string): number {
  say(standardError, `lameduck ${command}: ${problem}\nlameduck ${command} --help shows examples`);
  return badUsage;
}
