// Both languages say everything, with the same placeholders, and the words keep to the house style.
import { expect, test } from 'vitest';
import { FormulaSheet, withNeededFaces } from '../../../web/prerender/formula.ts';
import { markup } from '../../../web/prerender/markup.ts';
import { claims as enClaims } from '../../../web/src/texts/en/claims.ts';
import { course as enCourse } from '../../../web/src/texts/en/course.ts';
import { figures as enFigures } from '../../../web/src/texts/en/figures.ts';
import { messages as enMessages } from '../../../web/src/texts/en/messages.ts';
import { mistakes as enMistakes } from '../../../web/src/texts/en/mistakes.ts';
import { page as enPage } from '../../../web/src/texts/en/page.ts';
import { claimFormulas, pageFormulas } from '../../../web/src/texts/formulas.ts';
import { fill } from '../../../web/src/texts/languages.ts';
import { claims as zhClaims } from '../../../web/src/texts/zh/claims.ts';
import { course as zhCourse } from '../../../web/src/texts/zh/course.ts';
import { figures as zhFigures } from '../../../web/src/texts/zh/figures.ts';
import { messages as zhMessages } from '../../../web/src/texts/zh/messages.ts';
import { mistakes as zhMistakes } from '../../../web/src/texts/zh/mistakes.ts';
import { page as zhPage } from '../../../web/src/texts/zh/page.ts';

const en = { claims: enClaims, course: enCourse, figures: enFigures, messages: enMessages, mistakes: enMistakes, page: enPage };
const zh = { claims: zhClaims, course: zhCourse, figures: zhFigures, messages: zhMessages, mistakes: zhMistakes, page: zhPage };

type Leaves = Map<string, string>;

function leaves(node: unknown, path = '', found: Leaves = new Map()): Leaves {
  if (typeof node === 'string') found.set(path, node);
  else for (const [key, value] of Object.entries(node as object)) leaves(value, `${path}/${key}`, found);
  return found;
}

const english = leaves(en);
const chinese = leaves(zh);
const placeholders = (text: string) => [...text.matchAll(/\{[\w-]+\}/g)].map(String).sort();
const formulas = (text: string) => [...new Set([...text.matchAll(/\$[^$]+\$/g)].map(String))].sort();

test('both languages have every key', () => {
  expect(english.size).toBeGreaterThan(150);
  expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
});

test('both languages have every placeholder and every formula', () => {
  for (const [key, text] of english) {
    expect(placeholders(chinese.get(key)!), key).toEqual(placeholders(text));
    expect(formulas(chinese.get(key)!), key).toEqual(formulas(text));
  }
});

test('no text is empty, shouts, or was left untranslated', () => {
  for (const [key, text] of [...english, ...chinese]) {
    expect(text.trim(), key).not.toBe('');
    expect(text, key).not.toMatch(/[!！]/);
  }
  const sentences = [...english].filter(([, text]) => text.split(' ').length > 3);
  for (const [key] of sentences) expect(chinese.get(key), key).toMatch(/[\u4e00-\u9fff]/);
});

test('every claim with a text has a formula', () => {
  expect(Object.keys(claimFormulas)).toEqual(Object.keys(enClaims));
});

test('formulas render with the faces that are shipped and without inline styles', () => {
  const sheet = new FormulaSheet();
  const all = [...Object.values(claimFormulas), ...Object.values(pageFormulas)].map((source) => sheet.render(source, true));
  all.push(...[...english.values(), ...chinese.values()].map((text) => markup(text, sheet)));
  const html = all.join('');
  expect(html).not.toMatch(/\sstyle=/);
  // The classes by which KaTeX asks for a face that withNeededFaces drops.
  expect(html).not.toMatch(/class="[^"]*\b(mathbf|textbf|mathit|textit|boldsymbol|mathbb|amsrm|mathcal|mathfrak|mathsf|textsf|mathscr|mathtt|texttt)\b/);
  expect(sheet.css()).toMatch(/^\.katex \.fx0\{/);
});

test('the stylesheet of formulas keeps the needed faces, as woff2 alone', () => {
  const rule = (name: string) => `@font-face{font-family:X;src:url(fonts/${name}.woff2) format("woff2"),url(fonts/${name}.ttf) format("truetype")}`;
  const css = withNeededFaces(`${rule('KaTeX_Main-Regular')}${rule('KaTeX_Fraktur-Bold')}.katex{color:red}`);
  expect(css).toBe('@font-face{font-family:X;src:url(fonts/KaTeX_Main-Regular.woff2) format("woff2")}.katex{color:red}');
});

test('markup escapes what is not marked', () => {
  const sheet = new FormulaSheet();
  expect(markup('a < b & `c<d>` "e"', sheet)).toBe('a &lt; b &amp; <code>c&lt;d&gt;</code> &quot;e&quot;');
});

test('markup keeps numbers together and typesets no single letters', () => {
  const sheet = new FormulaSheet();
  expect(markup('32 MiB at 65 536 tokens, `1 024 B`', sheet)).toBe('32\u202fMiB at 65\u202f536 tokens, <code>1 024 B</code>');
  expect(markup('$\\beta=0.5$', sheet)).toBe('<span class="math"><var>β</var> = 0.5</span>');
  expect(markup('$kS$', sheet)).not.toContain('katex');
  expect(markup('$k_1$', sheet)).toContain('katex');
});

test('fill puts values in and leaves unknown names', () => {
  expect(fill('{a} of {b}, {c}', { a: 1, b: '$&' })).toBe('1 of $&, {c}');
});
