// Reads and replaces the generated part of a documentation page, which lies between two marker comments.

const end = '<!-- Up to here. -->';

/**
 * Place names a documentation page and the generated part in it. If the page does not have this part, the error message
 * contains `page` and `part`.
 */
export interface Place {
  readonly page: string;
  readonly part: string;
  /** The comment that marks the beginning of the generated part of the page. */
  readonly marker: string;
}

/**
 * partIn returns the generated part of the page, between the two marker comments. It throws if the page does not have
 * both marker comments.
 */
export function partIn(text: string, place: Place): string {
  return splitAt(text, place)[1];
}

/**
 * withPart returns the text of the page after replacing the generated part between the two marker comments with
 * `lines`. It throws if the page does not have both marker comments.
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
