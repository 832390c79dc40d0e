// What went wrong, in the reader's language. What the engine or the browser says of it is English and is quoted as such.
import { element } from '../dom/element.ts';
import { LoadFailure } from '../engine/failure.ts';
import type { Texts } from './languages.ts';

export type Words = (Node | string)[];

// Told in the reader's language by whoever throws it.
export class Worded extends Error {}

export function failureWords({ kind, detail }: Pick<LoadFailure, 'kind' | 'detail'>, texts: Texts): Words {
  const { reason, ...named } = detail;
  return withReason(texts.say(`failure.${kind}`, named), [quotation(String(reason))]);
}

export function problemWords(problem: unknown, texts: Texts): Words {
  if (problem instanceof LoadFailure) return failureWords(problem, texts);
  const message = problem instanceof Error ? problem.message : String(problem);
  return [problem instanceof Worded ? message : quotation(message)];
}

export function withReason(sentence: string, reason: Words): Words {
  const [before, after] = sentence.split('{reason}');
  return after === undefined ? [sentence] : [before!, ...reason, after];
}

function quotation(words: string): HTMLElement {
  return element('code', { lang: 'en' }, words);
}
