// The chapters of src/course.ts as they stand in the page before it runs, and its table of contents.
import { type Chapter, chapters } from '../src/course.ts';
import { course as en } from '../src/texts/en/course.ts';
import { page as enPage } from '../src/texts/en/page.ts';
import { course as zh } from '../src/texts/zh/course.ts';
import { page as zhPage } from '../src/texts/zh/page.ts';
import type { FormulaSheet } from './formula.ts';
import { bilingual, escapeHtml } from './markup.ts';

interface Words {
  short: string;
  heading: string;
  text: readonly string[];
  figures: Record<string, { heading?: string; text: string }>;
  tries: readonly string[]; // up to the first stop it is what to do
  answer?: string;
}

type Both = (key: (words: Words) => string | undefined) => string;
type PageText = (key: keyof typeof enPage) => string;

const wordsOf = (language: object, name: string) => (language as Record<string, Words>)[name]!;

function bothOf({ name }: Chapter, sheet: FormulaSheet): Both {
  return (key) => {
    const [english, chinese] = [key(wordsOf(en, name)), key(wordsOf(zh, name))];
    if (english === undefined || chinese === undefined) throw new Error(`texts/*/course.ts lacks words of ${name}`);
    return bilingual({ en: english, zh: chinese }, sheet);
  };
}

const pageTextOf = (sheet: FormulaSheet): PageText => (key) => bilingual({ en: enPage[key], zh: zhPage[key] }, sheet);

function exhibit(name: string, chapter: Chapter, both: Both): string {
  const headed = wordsOf(en, chapter.name).figures[name]?.heading !== undefined;
  return `<div class="exhibit" id="${name}">
${headed ? `<h3>${both(({ figures }) => figures[name]!.heading)}</h3>\n` : ''}<p class="read">${both(({ figures }) => figures[name]?.text)}</p>
<div data-figure="${name}"></div></div>`;
}

const untilStop = /^(?:\$[^$]*\$|[^:：.。])*/;
const begin = (words: string) => untilStop.exec(words)![0];
const rest = (words: string) => words.replace(untilStop, '');

function tries(chapter: Chapter, both: Both, text: PageText): string {
  const links = chapter.tries.map((address, i) => {
    const figure = address.slice(0, address.indexOf('.'));
    return `<li><a data-try href="?${escapeHtml(address)}#${figure}">${both((words) => begin(words.tries[i]!))}</a>${both((words) => rest(words.tries[i]!))}</li>`;
  });
  const switches = chapter.mistakes.map((name) => `<li data-switch="${name}"></li>`);
  const answer = wordsOf(en, chapter.name).answer === undefined ? '' : `<details class="answer"><summary>${text('course.answer')}</summary><p>${both((words) => words.answer)}</p></details>`;
  return `<div class="tries"><h3>${text('course.tries')}</h3><ul>${links.join('')}</ul>${answer}
${switches.length > 0 ? `<h3>${text('course.mistakes')}</h3><ul class="switches">${switches.join('')}</ul>` : ''}</div>`;
}

const foldedFrom = 5; // claims

function grounds({ claims }: Chapter, text: PageText): string {
  if (claims.length === 0) return `<div class="grounds"><h3>${text('course.grounds')}</h3><p>${text('course.no-grounds')}</p></div>`;
  const rows = claims.map((id) => `<li data-ground="${id}" data-state="waiting"><span class="mark" aria-hidden="true"></span><a href="#${id}">${id}</a> <span class="words"></span> <span class="outcome"></span></li>`);
  return `<details class="grounds"${claims.length < foldedFrom ? ' open' : ''}><summary>${text('course.grounds')} <span class="tally"></span></summary>
<ul>${rows.join('\n')}</ul><div class="grounds-command"></div></details>`;
}

export function courseHtml(sheet: FormulaSheet): string {
  const text = pageTextOf(sheet);
  return chapters.map((chapter, i) => {
    const both = bothOf(chapter, sheet);
    const paragraphs = wordsOf(en, chapter.name).text.map((_, at) => `<p class="read">${both((words) => words.text[at])}</p>`);
    const exhibits = chapter.figures.map((name) => exhibit(name, chapter, both));
    return `<section class="chapter" id="${chapter.name}" aria-labelledby="${chapter.name}-heading">
<h2 id="${chapter.name}-heading"><a class="chapter-number" href="#${chapter.name}" aria-hidden="true" tabindex="-1">${i + 1}</a> ${both(({ heading }) => heading)}</h2>
${[...paragraphs, ...exhibits].join('\n')}
<div class="after">${tries(chapter, both, text)}
${grounds(chapter, text)}</div>
</section>`;
  }).join('\n\n');
}

// What follows the chapters in the page: its id and the text of its entry.
const appendix = [['claims', 'contents.claims'], ['yourself', 'contents.yourself']] as const;

export function contentsHtml(sheet: FormulaSheet): string {
  const text = pageTextOf(sheet);
  const entries = [...chapters.map((chapter) => `<li class="numbered"><a href="#${chapter.name}">${bothOf(chapter, sheet)(({ short }) => short)}</a></li>`),
    ...appendix.map(([id, key]) => `<li><a href="#${id}">${text(key)}</a></li>`)];
  return `<ol id="contents-list">${entries.join('\n')}</ol>`;
}
