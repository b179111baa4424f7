// The checks that one probe excludes. The names come from the client and can be any text.

// How many unknown names are listed, and how many characters of each, so that the response stays short.
const mostNames = 20;
const longestName = 100;

/** Excludable can be excluded by its own name or by its group. */
export interface Excludable {
  readonly name: string;
  readonly group?: string | undefined;
}

/** Exclusions are the values of `exclude` of one probe, each an exact name of a check or of a group. */
export class Exclusions {
  readonly #asked: ReadonlySet<string>;
  readonly #unmatched: Set<string>;

  constructor(query: URLSearchParams) {
    this.#asked = new Set(query.getAll('exclude'));
    this.#unmatched = new Set(this.#asked);
  }

  /** Whether the probe excludes nothing. */
  get isEmpty(): boolean {
    return this.#asked.size === 0;
  }

  /** of returns how a check is excluded, as written in the report: by its name, else by its group, else undefined. */
  of({ name, group }: Excludable): string | undefined {
    if (this.#asked.has(name)) {
      this.#unmatched.delete(name);
      return 'excluded';
    }
    if (group === undefined || !this.#asked.has(group)) return undefined;
    this.#unmatched.delete(group);
    return `excluded with ${group}`;
  }

  /** warning is the line about names that no check and no group has, or the empty string. Read it after `of` of each check. */
  get warning(): string {
    if (this.#unmatched.size === 0) return '';
    const names = [...this.#unmatched].sort();
    const listed = names.slice(0, mostNames).map(quoted).join(',');
    const rest = names.length > mostNames ? ` and ${String(names.length - mostNames)} more` : '';
    return `warn: some health checks cannot be excluded: no matches for ${listed}${rest}\n`;
  }
}

// Quoted as in Go: the result cannot start a new line, move a terminal's cursor or reverse text.
function quoted(name: string): string {
  // A character has at most two UTF-16 units.
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
