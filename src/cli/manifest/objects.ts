// Reads the objects of a manifest, from documents, lists and aliases. Each object has its line in the file. No side
// effects.
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type Document,
  type YAMLError,
} from 'yaml';
import { isObject, object, text, valueText, type Fields, type Path } from './fields.ts';
import { isListKind, kindIn } from './kinds.ts';
import { customTags } from './scalars.ts';

/** Place is a line of a file. The first line is 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

/** ManifestObject is one Kubernetes object. */
export interface ManifestObject extends Place {
  /**
   * `kind` is the kind of the object, such as `Service`. If an API group outside Kubernetes defines a kind with the
   * same name, `kind` ends with this group: `Service.serving.knative.dev`.
   */
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  /** `namespace` is the namespace that the manifest states. It is empty if the manifest states none. */
  readonly namespace: string;
  readonly fields: Fields;
  /** hasPlaceholder is true if the YAML document of the object contains a placeholder such as `{{ .Values.replicas }}`. */
  readonly hasPlaceholder: boolean;
  /**
   * lineOf returns the line of a field. For an absent field, it returns the line of the field that would contain it.
   */
  readonly lineOf: (path: Path) => number;
}

/** Unreadable is a place in a manifest that contains a mistake, with an explanation of the mistake. */
export interface Unreadable extends Place {
  readonly reason: string;
  /**
   * isUsed is false if the command ignores the part of the manifest that contains the mistake. A mapping with a
   * repeated key, for example, is reported as a mistake, but the command still uses the mapping.
   */
  readonly isUsed: boolean;
}

/** Manifest contains the objects of a file, and the mistakes in it. */
export interface Manifest {
  readonly objects: readonly ManifestObject[];
  readonly unreadable: readonly Unreadable[];
}

/** readObjects returns the objects of a file. A broken document does not prevent reading the other documents. */
export function readObjects(content: string, file: string): Manifest {
  const found: ManifestObject[] = [];
  const unreadable: Unreadable[] = [];
  for (const part of partsOf(content.replaceAll('\r\n', '\n'))) readPart(part, file, found, unreadable);
  return { objects: found, unreadable };
}

interface Part {
  readonly content: string;
  /** linesBefore is the number of lines of the manifest file before this YAML document. */
  readonly linesBefore: number;
}

// Splits the file at `---` lines as kubectl does, so that an unclosed quote or bracket affects only its own document.
function partsOf(content: string): Part[] {
  const parts: { lines: string[]; linesBefore: number }[] = [{ lines: [], linesBefore: 0 }];
  for (const [index, line] of content.split('\n').entries()) {
    const lines = parts.at(-1)?.lines ?? [];
    // A directive such as `%YAML` precedes the `---` of its own document. Such a `---` does not begin another
    // document.
    const isPrologue = lines.every((one) => /^(%|#|\s*$)/.test(one)) && lines.some((one) => one.startsWith('%'));
    if (/^---(\s|$)/.test(line) && !isPrologue) parts.push({ lines: [line], linesBefore: index });
    else lines.push(line);
  }
  return parts.map(({ lines, linesBefore }) => ({ content: lines.join('\n'), linesBefore }));
}

const yamlOptions = { version: '1.1', merge: true, customTags, logLevel: 'error' } as const;

function readPart(
  { content, linesBefore }: Part,
  file: string,
  found: ManifestObject[],
  unreadable: Unreadable[],
): void {
  const lines = new LineCounter();
  const lineAt = (offset: number): number => lines.linePos(offset).line + linesBefore;
  const report = (offset: number, reason: string, isUsed = false): void => {
    unreadable.push({ file, line: lineAt(offset), reason, isUsed });
  };
  const documents = parseAllDocuments(content, { ...yamlOptions, lineCounter: lines });
  const hasPlaceholder = content.includes('{{');
  for (const document of Array.isArray(documents) ? documents : []) {
    const fatal = document.errors.find(({ code }) => code !== 'DUPLICATE_KEY');
    for (const error of fatal === undefined ? document.errors : [fatal]) {
      report(error.pos[0], reasonOf(error, content), fatal === undefined);
    }
    if (fatal !== undefined) continue;
    let value: unknown;
    try {
      value = document.toJS();
      // If a YAML alias is inside the value of its own anchor, JSON.stringify throws.
      JSON.stringify(value);
    } catch (error) {
      report(...failureOf(document, error));
      continue;
    }
    collect(value, []);

    function collect(item: unknown, path: Path): void {
      // An empty document has the value null.
      if (item === null && path.length === 0) return;
      const offset = offsetOf(document, path);
      const { kind, apiVersion, metadata, items } = object(item);
      if (!isObject(item) || typeof kind !== 'string') {
        report(offsetOf(document, [...path, 'kind']), hasPlaceholder ? isTemplate : noKind(kind));
      } else if (kind.endsWith('List') && Array.isArray(items)) {
        for (const [index, one] of items.entries()) collect(one, [...path, 'items', index]);
      } else if (isListKind(kind)) {
        const got = items === undefined ? 'but is not set' : `got ${valueText(items, 80)}`;
        report(
          offsetOf(document, [...path, 'items']),
          `the field items of a ${kind} must be a list of objects, ${got}`,
        );
      } else {
        found.push({
          file,
          line: lineAt(offset),
          kind: kindIn(text(apiVersion, ''), kind),
          apiVersion: text(apiVersion, ''),
          fields: item,
          name: text(object(metadata)['name'], text(object(metadata)['generateName'], '')),
          namespace: text(object(metadata)['namespace'], ''),
          hasPlaceholder,
          lineOf: (inside) => lineAt(offsetOf(document, [...path, ...inside])),
        });
      }
    }
  }
}

const isTemplate = 'the document is a template, not YAML: render the template first, for example with helm template';

function noKind(kind: unknown): string {
  if (kind === undefined || kind === null) return 'the document is not a Kubernetes object, because it has no kind';
  return `the document is not a Kubernetes object: kind must be a string such as Deployment, got ${valueText(kind, 80)}`;
}

// Returns the offset and the reason of an error that the conversion of a document has thrown.
function failureOf(document: Document.Parsed, error: unknown): [number, string] {
  let failure: [number, string] = [
    document.range[0],
    (error instanceof Error ? error.message : String(error)).split('\n', 1).join(),
  ];
  visit(document, {
    Alias: (_key, alias, ancestors) => {
      const { source, range } = alias;
      const target = alias.resolve(document);
      if (target !== undefined && !ancestors.some((one) => one === target)) return undefined;
      failure = [
        range?.[0] ?? failure[0],
        target === undefined
          ? `the document is not YAML: no anchor &${source} precedes the alias *${source}`
          : `the alias *${source} is inside the value of its own anchor &${source}, so this value would contain itself`,
      ];
      return visit.BREAK;
    },
  });
  return failure;
}

function reasonOf({ code, message }: YAMLError, content: string): string {
  if (content.includes('{{')) return isTemplate;
  if (code === 'DUPLICATE_KEY') return 'a key is repeated in one map, and its last value takes effect';
  return `the document is not YAML: ${message
    .replace(/ at line [^]*$/, '')
    .split('\n', 1)
    .join()}`;
}

// Returns the offset at which a field begins in the file. A field begins with its key.
function offsetOf(document: Document.Parsed, path: Path): number {
  let offset = document.contents?.range[0] ?? document.range[0];
  let node: unknown = document.contents;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node)) node = node.items[Number(step)];
    else if (isMap(node)) {
      // If a key occurs twice in a YAML map, its last value takes effect.
      const pair = node.items.findLast(({ key }) => (isScalar(key) ? String(key.value) : key) === String(step));
      if (pair === undefined) return offset;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
      continue;
    } else return offset;
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
    if (Array.isArray(range)) offset = Number(range[0]);
  }
  return offset;
}
