// A strict parser of Prometheus' text format. It throws for every input that a Prometheus server would reject.
import assert from 'node:assert/strict';

export interface Family {
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ParsedSample[];
}

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(?:,|$)/y;

/** Exposition is the parsed result of a scrape. */
export class Exposition {
  readonly families = new Map<string, Family & { samples: ParsedSample[] }>();

  constructor(text: string) {
    assert.ok(text.endsWith('\n'), 'the last line must end with a line feed');
    const seen = new Set<string>();
    let name = '';
    for (const line of text.split('\n').filter((one) => one !== '')) {
      const [, keyword, family = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
      if (keyword === 'HELP') {
        assert.ok(!this.families.has(family), `${family} must not appear twice`);
        this.families.set(family, { help: rest, type: '', samples: [] });
        name = family;
      } else if (keyword === 'TYPE') {
        assert.equal(family, name, 'a TYPE must follow its HELP');
        this.families.set(family, { ...this.#family(family), type: rest });
      } else {
        const sample = parseSample(line);
        assert.ok(belongsTo(sample.name, name, this.#family(name).type), `${line} must not appear below ${name}`);
        assert.ok(!seen.has(keyOf(sample)), `${line} must not appear twice`);
        seen.add(keyOf(sample));
        this.#family(name).samples.push(sample);
      }
    }
  }

  /**
   * `value()` returns the only sample with this name whose labels include the given labels, or undefined if there is
   * none.
   */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const all = [...this.families.values()].flatMap(({ samples }) => samples).filter((sample) => sample.name === name);
    const found = all.filter((sample) => Object.entries(labels).every(([key, text]) => sample.labels[key] === text));
    assert.ok(found.length < 2, `${name} ${JSON.stringify(labels)} must be one sample: ${JSON.stringify(found)}`);
    return found[0]?.value;
  }

  #family(name: string): Family & { samples: ParsedSample[] } {
    const family = this.families.get(name);
    assert.ok(family, `a sample must have a HELP: ${name}`);
    return family;
  }
}

function parseSample(line: string): ParsedSample {
  const [, name, pairs = '', value] = sampleLine.exec(line) ?? assert.fail(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  labelPair.lastIndex = 0;
  while (labelPair.lastIndex < pairs.length) {
    const [, label, text] = labelPair.exec(pairs) ?? assert.fail(`bad labels: ${line}`);
    labels[label as string] = (text as string).replace(/\\(.)/g, (_, escaped: string) =>
      escaped === 'n' ? '\n' : escaped,
    );
  }
  return { name: name as string, labels, value: numberOf(value as string) };
}

// Parses the value of a sample as Go does: `NaN` and `Inf` may have any letter case.
function numberOf(text: string): number {
  if (/^nan$/i.test(text)) return NaN;
  if (/^[+-]?inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  const value = Number(text);
  assert.ok(!Number.isNaN(value), `no number: ${text}`);
  return value;
}

function belongsTo(sample: string, family: string, type: string): boolean {
  if (type !== 'histogram') return sample === family;
  return ['_bucket', '_sum', '_count'].some((suffix) => sample === family + suffix);
}

function keyOf({ name, labels }: ParsedSample): string {
  return JSON.stringify([name, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
