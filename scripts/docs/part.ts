// Reads and replaces the part of a page that a script writes, between two comments.

const end = '<!-- Up to here. -->';

/** Place is a page with a generated part, and the texts for an error message about it. */
export interface Place {
  readonly page: string;
  readonly part: string;
  /** The comment that marks the beginning of the generated part of the page. */
  readonly marker: string;
}

/**
 * partIn returns the generated part of the page, between its two comments. It throws if the page does not have both
 * comments.
 */
export function partIn(text: string, place: Place): string {
  return splitAt(text, place)[1];
}

/**
 * withPart returns the text of the page with these lines as its generated part, between two comments. It throws if the
 * page does not have both comments.
 */
export function withPart(text: string, place: Place, lines: readonly string[]): string {
  const [before, , after] = splitAt(text, place);
  const part = ['', '<!-- prettier-ignore-start -->', '', ...lines, '', '<!-- prettier-ignore-end -->', ''];
  return [before, place.marker, part.join('\n'), end, after].join('');
}

function splitAt(text: string, { page, part, marker }: Place): [before: string, part: string, after: string] {
  const [before = '', rest = ''] = text.split(marker);
  const length = rest.indexOf(end);
  if (length < 0) throw new Error(`${page} has no place for ${part}: ${marker} … ${end}`);
  return [before, rest.slice(0, length), rest.slice(length + end.length)];
}
