// Formats the failed requests of the cluster tests as a table, with a row for each kind of client and a column for each
// event.
import type { Tally } from './programs/exchange.ts';
import type { Tallies } from './load.ts';

/**
 * Column is one column of the results table, for one event, such as a rolling update. It has the request counts of all
 * clients before the event and after the event.
 */
export interface Column {
  readonly event: string;
  readonly before: Tallies;
  readonly after: Tallies;
}

/** `failed()` returns the number of requests that were lost, refused or answered wrongly. */
export function failed({ lost, refused, wrong }: Tally): number {
  return lost + refused + wrong;
}

/** `sum()` adds up the number that `figure` returns for each kind of client, such as the number of requests. */
export function sum(tallies: Tallies, figure: (tally: Tally) => number): number {
  return Object.values(tallies).reduce((all, tally) => all + figure(tally), 0);
}

/**
 * `table()` returns the lines of the table. Each cell has the number of failed requests and the number of all requests.
 */
export function table(columns: readonly Column[], whole: Tallies): string[] {
  const names = Object.keys(whole).sort();
  const field = (name: string, { before, after }: Column) => {
    const [from, to] = [before[name], after[name]];
    if (!to) return '';
    return `${String(failed(to) - (from ? failed(from) : 0))} of ${String(to.requests - (from?.requests ?? 0))}`;
  };
  const rows = names.map((name) => {
    const tally = whole[name] as Tally;
    return [
      name,
      ...columns.map((column) => field(name, column)),
      `${String(failed(tally))} of ${String(tally.requests)}`,
    ];
  });
  const all = ['all', ...columns.map((column) => total(column.before, column.after)), total({}, whole)];
  const lines = [['lost, refused or wrong', ...columns.map(({ event }) => event), 'whole run'], ...rows, all];
  const widths = lines[0]?.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0))) ?? [];
  return lines.map((line) => `| ${line.map((text, index) => text.padEnd(widths[index] ?? 0)).join(' | ')} |`);
}

function total(before: Tallies, after: Tallies): string {
  const lost = sum(after, failed) - sum(before, failed);
  const requests = sum(after, (tally) => tally.requests) - sum(before, (tally) => tally.requests);
  return `${String(lost)} of ${String(requests)}`;
}
