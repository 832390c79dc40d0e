// The little markup of the texts: $formula$ and `code`; all else is escaped.
import type { FormulaSheet } from './formula.ts';

export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

const letters: Record<string, string> = { alpha: 'α', beta: 'β', rho: 'ρ', lambda: 'λ', varepsilon: 'ε', phi: 'ϕ' };

// Letters and equations of letters and numbers need no typesetting, and so weigh a tenth of it.
function symbols(formula: string): string | undefined {
  const parts = formula.split('=').map((part) => {
    if (/^[\d.]+$/.test(part)) return part;
    const product = /^([A-Z])\\times ([A-Z])$/.exec(part);
    if (product) return `<var>${product[1]}</var> × <var>${product[2]}</var>`;
    const letter = /^\\([a-z]+)$/.exec(part) ? letters[part.slice(1)] : /^[A-Za-z]{1,2}$/.exec(part)?.[0];
    return letter && `<var>${letter}</var>`;
  });
  return parts.includes(undefined) ? undefined : `<span class="math">${parts.join(' = ')}</span>`;
}

// Thousands apart by a thin space, and a unit that stays with its number.
function spaced(text: string): string {
  return text.replace(/(\d) (?=\d{3}(?!\d)|[KMG]iB|%)/g, '$1\u202f');
}

const short = 26; // characters of a formula that may stay on one line on any screen
const marks = /^[.,;:)，。；：、）]+/; // those that follow a formula do not begin a line

export function markup(text: string, sheet: FormulaSheet): string {
  return text.split(/(\$[^$]+\$|`[^`]+`)/).map((part, i, parts) => {
    if (part.startsWith('$')) {
      const formula = part.slice(1, -1);
      const known = symbols(formula);
      if (known) return known;
      const mark = formula.length > short ? undefined : marks.exec(parts[i + 1]!)?.[0];
      if (!mark) return sheet.render(formula);
      parts[i + 1] = parts[i + 1]!.slice(mark.length);
      return `<span class="bound">${sheet.render(formula)}${mark}</span>`;
    }
    if (part.startsWith('`')) return `<code>${escapeHtml(part.slice(1, -1))}</code>`;
    return escapeHtml(spaced(part));
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
