// What one probe asks to leave out, and which of it there was. The names come from outside and can be anything.

// So many names that match nothing are listed, each cut at so many characters: the answer stays short, whatever is asked.
const mostNames = 20;
const longestName = 100;

/** Excludable is what can be left out: by its own name, or with its group. */
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

  /** Whether the probe asks for everything. */
  get isEmpty(): boolean {
    return this.#asked.size === 0;
  }

  /** of says, in the words of the report, how a check is left out, by its name before its group; undefined is not. */
  of({ name, group }: Excludable): string | undefined {
    if (this.#asked.has(name)) {
      this.#unmatched.delete(name);
      return 'excluded';
    }
    if (group === undefined || !this.#asked.has(group)) return undefined;
    this.#unmatched.delete(group);
    return `excluded with ${group}`;
  }

  /** warning is the line about the names that no check or group had, or nothing; it is complete once each was asked for. */
  get warning(): string {
    if (this.#unmatched.size === 0) return '';
    const names = [...this.#unmatched].sort();
    const listed = names.slice(0, mostNames).map(quoted).join(',');
    const rest = names.length > mostNames ? ` and ${String(names.length - mostNames)} more` : '';
    return `warn: some health checks cannot be excluded: no matches for ${listed}${rest}\n`;
  }
}

// As Go quotes: nothing comes out that could begin a line of its own, move a terminal's cursor or turn text around.
function quoted(name: string): string {
  // Twice as many units hold at least so many characters.
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
