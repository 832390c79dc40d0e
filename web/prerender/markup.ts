// The little markup of the texts: $formula$ and `code`; all else is escaped.
import type { FormulaSheet } from './formula.ts';

export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

export function markup(text: string, sheet: FormulaSheet): string {
  return text.split(/(\$[^$]+\$|`[^`]+`)/).map((part) => {
    if (part.startsWith('$')) return sheet.render(part.slice(1, -1));
    if (part.startsWith('`')) return `<code>${escapeHtml(part.slice(1, -1))}</code>`;
    return escapeHtml(part);
  }).join('');
}

export interface Bilingual {
  en: string;
  zh: string;
}

// Both languages stand in the document and the one not read is hidden, so text is there before any script runs.
export function bilingual(text: Bilingual, sheet: FormulaSheet): string {
  return `<span lang="en">${markup(text.en, sheet)}</span><span lang="zh-Hans">${markup(text.zh, sheet)}</span>`;
}
