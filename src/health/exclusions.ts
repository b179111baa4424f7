// The checks that one probe excludes with the parameter `exclude`. The response lists unknown names. The client may
// send any names, so the response lists at most 20, with at most 100 characters each.
const mostNames = 20;
const longestName = 100;

/** Excludable is a check, with the name and the group by which a probe can exclude it. */
export interface Excludable {
  readonly name: string;
  readonly group?: string | undefined;
}

/**
 * Exclusions are the values of the parameter `exclude` in one probe. Each value is the exact name of a check or of a
 * group.
 */
export class Exclusions {
  readonly #asked: ReadonlySet<string>;
  readonly #unmatched: Set<string>;

  constructor(query: URLSearchParams) {
    this.#asked = new Set(query.getAll('exclude'));
    this.#unmatched = new Set(this.#asked);
  }

  /** isEmpty is true if the probe has no parameter `exclude`. */
  get isEmpty(): boolean {
    return this.#asked.size === 0;
  }

  /**
   * If the probe excludes a check, `of()` returns a note for the response. The note is `excluded` if the probe names
   * the check. The note is `excluded with` and the group's name if the probe names the check's group. If the probe does
   * not exclude the check, `of()` returns undefined.
   */
  of({ name, group }: Excludable): string | undefined {
    if (this.#asked.has(name)) {
      this.#unmatched.delete(name);
      return 'excluded';
    }
    if (group === undefined || !this.#asked.has(group)) return undefined;
    this.#unmatched.delete(group);
    return `excluded with ${group}`;
  }

  /**
   * `warning` is the line of the response about values of `exclude` that are not the name or the group of a check. It
   * is empty if all values match. Call `of()` for every check before reading `warning`, because `of()` records which
   * values match.
   */
  get warning(): string {
    if (this.#unmatched.size === 0) return '';
    const names = [...this.#unmatched].sort();
    const listed = names.slice(0, mostNames).map(quoted).join(',');
    const rest = names.length > mostNames ? ` and ${String(names.length - mostNames)} more` : '';
    return `warn: some health checks cannot be excluded: no matches for ${listed}${rest}\n`;
  }
}

// Quotes a name as Go does. Control characters are escaped, so that the name can neither start a new line nor move the
// cursor of a terminal.
function quoted(name: string): string {
  // Cut the text before splitting it into characters. A character has at most two UTF-16 code units.
  const characters = Array.from(name.slice(0, 2 * longestName));
  const isCut = characters.length > longestName;
  const shown = isCut ? `${characters.slice(0, longestName).join('')}…` : name;
  return `"${shown.replace(unprintable, escaped)}"`;
}

const unprintable = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

function escaped(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) as number;
  const [letter, digits] = code < 0x80 ? ['x', 2] : code < 0x1_00_00 ? ['u', 4] : ['U', 8];
  return `\\${letter}${code.toString(16).padStart(digits, '0')}`;
}
