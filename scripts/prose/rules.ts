// The writing rules that `npm run prose` applies to every sentence of a page or a comment.
import type { TextlintRuleModule } from '@textlint/kernel';
import { split } from 'sentence-splitter';

/** The most words that a sentence may have. */
const mostWords = 25;

/**
 * The prose check rejects a sentence that begins with one of these words, because a sentence must begin with its actor.
 * A question may begin with any word.
 */
const opener = /^(?:Who|Whoever|What|Of|One that|Nor)\b(?!.*\?$)/;

/** Words that readers misunderstand, each with the words to write instead. */
const unclear: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\bahead of\b/i, '"before"'],
  [
    /\bbehind\b(?! (?:an?|the|its|another|your|some) (?:[\w-]+ )?(?:proxy|load balancer|gateway|service|firewall|NAT))/i,
    '"after"',
  ],
  [/\b(?:is|are|was|were|be|been|being) told\b/i, '"notified" or "receives"'],
  // The verb `ask` is forbidden. But a doc comment may begin with `ask` if its function has the name `ask`.
  [/(?!^ask )\b(?:[Aa]sks?|[Aa]sked|[Aa]sking)\b/, '"probes", "requests", "calls" or "reads"'],
  [/\bwhoever\b/i, '"the client", "the caller" or "the user"'],
  [/\bnobody[’']s\b/i, '"no client" or "no process"'],
  [/\banew\b/i, '"again"'],
  [/\b(?:come|comes|came|coming) back\b/i, '"reconnects" or "returns"'],
  [/\b(?:go|goes|went) out\b/i, '"is sent"'],
  [/\bbrought back\b/i, '"added back"'],
  [/\bstands? over\b/i, '"covers"'],
  [/\brefuses? to start\b/i, '"is invalid"'],
];

/**
 * `sentences()` checks the length, the beginning and the words of each sentence. Text in backticks counts as one word.
 */
export const sentences: TextlintRuleModule = ({ Syntax, RuleError, report, getSource, locator }) => {
  const check = (node: Parameters<typeof getSource>[0] & object): void => {
    for (const { text, range } of sentencesOf(getSource(node))) {
      for (const problem of problemsOf(text)) report(node, new RuleError(problem, { padding: locator.range(range) }));
    }
  };
  return { [Syntax.Paragraph]: check, [Syntax.TableCell]: check };
};

/**
 * sentencesOf splits a text into sentences. It masks `ms.` and numbers such as `503.`, because the splitter sees no end
 * of a sentence after them. The splitter reads `ms.` as a title such as `Mr.`, and `503.` as the number of a list item.
 */
export function sentencesOf(source: string): { readonly text: string; readonly range: readonly [number, number] }[] {
  const text = source
    .replace(/`[^`]*`/g, (code) => `\`${'x'.repeat(code.length - 2)}\``)
    .replace(/(?:\bms|\d)(?=\.\s)/g, (end) => 'x'.repeat(end.length));
  return split(text).flatMap(({ type, range: [start, end] }) =>
    type === 'Sentence' ? [{ text: text.slice(start, end), range: [start, end] as const }] : [],
  );
}

/** problemsOf returns the writing rules that a sentence breaks. */
export function problemsOf(sentence: string): string[] {
  const plain = sentence
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_]+(?=\S)|(?<=\S)[*_]+/g, '')
    .trim();
  const words = plain.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length;
  const first = opener.exec(plain)?.[0];
  return [
    ...(words > mostWords ? [`${String(words)} words, at most ${String(mostWords)}: split the sentence`] : []),
    ...(first === undefined ? [] : [`begins with "${first}": begin with who or what acts`]),
    ...unclear.flatMap(([pattern, instead]) => {
      const found = pattern.exec(plain)?.[0];
      return found === undefined ? [] : [`"${found}": write ${instead}`];
    }),
  ];
}
