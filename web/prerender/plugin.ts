// Expands index.html: {{part.key}} becomes that text in both languages, {{formula:key}} a display formula, {{claims}} and
// {{mistakes}} the rows that have texts, {{course}} the chapters, {{contents}} the way to them. virtual:formulas.css is the stylesheet of the
// formulas met on the way; virtual:linearmem/claim-notes has what a claim's details show, its formula with them.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';
import { claims as enClaims } from '../src/texts/en/claims.ts';
import { mistakes as enMistakes } from '../src/texts/en/mistakes.ts';
import { page as enPage } from '../src/texts/en/page.ts';
import { claimFormulas, pageFormulas } from '../src/texts/formulas.ts';
import { claims as zhClaims } from '../src/texts/zh/claims.ts';
import { mistakes as zhMistakes } from '../src/texts/zh/mistakes.ts';
import { page as zhPage } from '../src/texts/zh/page.ts';
import { contentsHtml, courseHtml } from './course.ts';
import { FormulaSheet, withNeededFaces } from './formula.ts';
import { bilingual, type Bilingual } from './markup.ts';
import { cellLabels, claimRow, mistakeRow } from './rows.ts';
import { allClaims } from './wasm_modules.ts';

const katexFolder = dirname(createRequire(import.meta.url).resolve('katex/dist/katex.min.css'));
// Not a file: the name only places the stylesheet beside KaTeX's fonts, which its relative addresses mean.
const formulasPath = join(katexFolder, 'formulas-of-the-page.css');

function pageText(key: string): Bilingual {
  const en = (enPage as Record<string, string>)[key];
  const zh = (zhPage as Record<string, string>)[key];
  if (en === undefined || zh === undefined) throw new Error(`index.html asks for {{${key}}}, which texts/*/page.ts lacks`);
  return { en, zh };
}

function expand(html: string, sheet: FormulaSheet): string {
  const claimIds = Object.keys(enClaims) as (keyof typeof enClaims)[];
  const mistakeNames = Object.keys(enMistakes) as (keyof typeof enMistakes)[];
  const rows = {
    claims: () => claimIds.map((id) => claimRow(id, { en: enClaims[id], zh: zhClaims[id] }, sheet)).join('\n'),
    mistakes: () => mistakeNames.map((name) => mistakeRow(name, enMistakes[name], zhMistakes[name], sheet)).join('\n'),
    course: () => courseHtml(sheet),
    contents: () => contentsHtml(sheet),
    'claim-row': () => claimRow('', undefined, sheet),
    'mistake-row': () => mistakeRow('', undefined, undefined, sheet),
  };
  return html.replace(/\{\{([\w:.-]+)\}\}/g, (_, key: string) => {
    if (key in rows) return rows[key as keyof typeof rows]();
    const formula = /^formula:(.*)$/.exec(key);
    if (formula) return sheet.render(pageFormulas[formula[1] as keyof typeof pageFormulas], true);
    return bilingual(pageText(key), sheet);
  });
}

export function prerender(): Plugin {
  const sheet = new FormulaSheet();
  const source = readFileSync(join(import.meta.dirname, '..', 'index.html'), 'utf8');
  // Once ahead, so that the stylesheet is complete whenever it is asked for.
  expand(source, sheet);
  const formulas: Record<string, string> = Object.fromEntries(Object.entries(claimFormulas).map(([id, formula]) => [id, sheet.render(formula, true)]));
  const notes = async () => Object.fromEntries((await allClaims()).map(({ id, statement, source: from, inputs }) =>
    [id, { statement, source: from, inputs, formula: formulas[id] }]));
  return {
    name: 'linearmem-prerender',
    transformIndexHtml: { order: 'pre', handler: (html) => expand(html, sheet) },
    resolveId: (id) => (id === 'virtual:formulas.css' ? formulasPath : id === 'virtual:linearmem/claim-notes' ? `\0${id}` : undefined),
    load: async (id) => {
      if (id === '\0virtual:linearmem/claim-notes') return `export const notes = ${JSON.stringify(await notes())};`;
      if (id !== formulasPath) return undefined;
      return `${withNeededFaces(readFileSync(join(katexFolder, 'katex.min.css'), 'utf8'))}\n${sheet.css()}\n${cellLabels()}`;
    },
  };
}
