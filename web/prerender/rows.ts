// The rows that stand in the page before it runs: a claim's statement, a mistake's switch with its reason. Without a text they are the
// empty templates from which the page makes rows for entries that only the module knows.
import type { FormulaSheet } from './formula.ts';
import { bilingual, type Bilingual, markup } from './markup.ts';

const cells: [string, Bilingual][] = [
  ['expected', { en: 'expected', zh: '应得' }],
  ['computed', { en: 'computed here', zh: '本机算得' }],
  ['error', { en: 'error', zh: '误差' }],
  ['tolerance', { en: 'tolerance', zh: '容差' }],
  ['time', { en: 'time', zh: '用时' }],
];

// The names of the cells where a phone has no room for columns: in the stylesheet once, not in every row.
export function cellLabels(): string {
  return cells.map(([name, { en, zh }]) =>
    `.claim .${name}::before{content:"${en}"}:lang(zh) .claim .${name}::before{content:"${zh}"}`).join('\n');
}

export function claimRow(id: string, statement: Bilingual | undefined, sheet: FormulaSheet): string {
  const values = cells.map(([name]) => `<td role="cell" class="number ${name}"><span class="value"></span></td>`);
  return `<tr role="row" class="claim" data-state="waiting"${id ? ` id="${id}" data-claim="${id}"` : ''}>
<th role="rowheader" scope="row" class="statement"><button type="button" class="open" aria-expanded="false" disabled>${id}</button>
<span class="words">${statement ? bilingual(statement, sheet) : ''}</span></th>
${values.join('')}
<td role="cell" class="verdict"><span class="mark" aria-hidden="true"></span><span class="value"></span></td></tr>`;
}

interface MistakeText {
  label: string;
  why: string;
}

export function mistakeRow(name: string, en: MistakeText | undefined, zh: MistakeText | undefined, sheet: FormulaSheet): string {
  const both = (part: keyof MistakeText) =>
    (en && zh ? `<span lang="en">${markup(en[part], sheet)}</span><span lang="zh-Hans">${markup(zh[part], sheet)}</span>` : '');
  return `<li class="mistake"${name ? ` data-mistake="${name}"` : ''}>
<label><input type="checkbox" role="switch" disabled><span class="track" aria-hidden="true"></span><span class="label">${both('label')}</span></label>
<p class="why">${both('why')}</p></li>`;
}
