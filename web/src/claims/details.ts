// What an opened row shows: the formula, every check, the inputs, the source, and the command that repeats it.
import type { Check } from 'linearmem';
import { copyable, copyButton } from '../dom/copy.ts';
import { element } from '../dom/element.ts';
import type { Texts } from '../texts/languages.ts';
import type { ClaimNotes, ClaimWords } from './notes.ts';
import { verifyCommand } from './report.ts';
import type { Row } from './run.ts';
import { computed, expected, sentence } from './verdict.ts';

export interface DetailActions {
  runAgain(id: string): void;
  mistakeLabel(name: string): string;
}

export interface Told {
  notes: ClaimNotes;
  words: ClaimWords;
}

export function details(row: Row, { notes: { formula, inputs, source }, words }: Told, texts: Texts, actions: DetailActions): HTMLElement {
  const { info } = row;
  const parts: HTMLElement[] = [];
  if (formula) {
    const shown = element('div', { class: 'formula' });
    shown.innerHTML = formula; // made with the page, never from its address
    parts.push(shown);
  }
  if (row.mistakes.length > 0) {
    const mistakes = row.mistakes.map(actions.mistakeLabel).join(', ');
    parts.push(element('p', { class: 'with-mistakes' }, texts.say('details.with-mistakes', { mistakes })));
  }
  if (row.timed) parts.push(part(texts.say('details.checks'), checkList(row.timed.result.checks, words, texts)));
  parts.push(part(texts.say('details.inputs'), element('pre', { tabindex: 0 }, element('code', {}, words.inputs[info.id] ?? inputs))));
  parts.push(part(texts.say('details.source'), element('p', {}, words.sources[source] ?? element('cite', { lang: 'en' }, source))));
  parts.push(part(texts.say('details.command'), copyable(verifyCommand([info.id], row.mistakes), texts)));
  const again = element('button', { type: 'button', click: () => actions.runAgain(info.id) }, texts.say('run.again'));
  const link = copyButton(texts, texts.say('details.link'), () => new URL(`#${info.id}`, location.href).href);
  parts.push(element('p', { class: 'buttons' }, again, link));
  return element('div', { class: 'details' }, ...parts);
}

function part(heading: string, content: HTMLElement): HTMLElement {
  return element('section', {}, element('h3', {}, heading), content);
}

// The numbers are given with every digit.
function checkList(checks: readonly Check[], { quantities }: ClaimWords, texts: Texts): HTMLElement {
  const rows = checks.map((check) => element('li', { 'data-state': check.pass ? 'pass' : 'fail' },
    element('span', { class: 'quantity' }, element('span', { class: 'mark', 'aria-hidden': 'true' }), quantities[check.quantity] ?? check.quantity),
    element('span', { class: 'number' }, texts.say('details.numbers', {
      expected: expected([check], texts).full, computed: computed([check], texts).full, verdict: sentence(check, texts),
    }))));
  return element('ul', { class: 'checks' }, ...rows);
}
