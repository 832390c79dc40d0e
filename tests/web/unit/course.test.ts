// The course leaves nothing out: every statement, every figure and every mistake has its chapter, and what it asks to try can be set.
import { expect, test } from 'vitest';
import { catalogue } from 'virtual:linearmem/catalogue';
import { courseHtml } from '../../../web/prerender/course.ts';
import { FormulaSheet } from '../../../web/prerender/formula.ts';
import { chapters } from '../../../web/src/course.ts';
import { readAddress } from '../../../web/src/page/address.ts';
import { rooms } from '../../../web/src/rooms/index.ts';
import { claims } from '../../../web/src/texts/en/claims.ts';
import { course as en } from '../../../web/src/texts/en/course.ts';
import { mistakes } from '../../../web/src/texts/en/mistakes.ts';
import { course as zh } from '../../../web/src/texts/zh/course.ts';

const sorted = (names: Iterable<string>) => [...names].sort();

test('every figure has one place, every statement and every mistake at least one', () => {
  expect(sorted(chapters.flatMap(({ figures }) => figures))).toEqual(sorted(Object.keys(rooms)));
  expect(sorted(new Set(chapters.flatMap(({ claims: ids }) => ids)))).toEqual(sorted(Object.keys(claims)));
  expect(sorted(new Set(chapters.flatMap(({ mistakes: names }) => names)))).toEqual(sorted(Object.keys(mistakes)));
});

test('a chapter\'s mistakes touch a statement of that chapter', () => {
  for (const { name, claims: ids, mistakes: names } of chapters) {
    for (const mistake of names) {
      const touched = catalogue.claims.filter((claim) => claim.mistakes.includes(mistake)).map(({ id }) => id);
      expect(touched.filter((id) => ids.includes(id)), `${name}: ${mistake}`).not.toEqual([]);
    }
  }
});

test('the words and the course have the same chapters, figures and things to try, in both languages', () => {
  for (const words of [en, zh]) {
    expect(Object.keys(words)).toEqual(chapters.map(({ name }) => name));
    for (const { name, figures, tries } of chapters) {
      const said = (words as Record<string, { figures: object; tries: readonly string[] }>)[name]!;
      expect(Object.keys(said.figures), name).toEqual(figures);
      expect(said.tries.length, name).toBe(tries.length);
    }
  }
});

test('what is to be tried sets a figure of the chapter to something else than it is', () => {
  const known = { mistakes: catalogue.mistakes, experiments: [...catalogue.experiments, ...catalogue.timings] };
  for (const { figures, tries } of chapters) {
    for (const address of tries) {
      const set = Object.entries(readAddress(`?${address}`, known).figures).filter(([, settings]) => Object.keys(settings).length > 0);
      expect(set.length, address).toBe(1);
      expect(figures, address).toContain(set[0]![0]);
      expect(Object.entries(set[0]![1]).map(([name, value]) => `${set[0]![0]}.${name}=${value}`).sort(), address).toEqual(address.split('&').sort());
    }
  }
});

test('chapters, figures and statements are places that a link can name', () => {
  const html = courseHtml(new FormulaSheet());
  const places = [...html.matchAll(/ id="([\w-]+)"/g)].map(([, id]) => id!);
  expect(new Set(places).size).toBe(places.length);
  for (const { name, figures } of chapters) for (const id of [name, ...figures]) expect(places, id).toContain(id);
  expect(html).not.toMatch(/undefined|\{\{/);
});
