// <linear-mem> on pages of other people: unharmed by their styles, one engine for all, its states and exports, and every figure of every room.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { catalogue } from 'virtual:linearmem/catalogue';
import { require } from '../browser.mjs';
import { isWasm, useBrowser, visit } from './session.ts';

useBrowser();

const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const script = '<script src="/linear-mem.js" defer></script>';

async function notes(body: string, { head = '', headers = {}, ...options }: Record<string, any> = {}) {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>notes</title><link rel="icon" href="data:,">${head}</head><body>${body}</body></html>`;
  return visit({
    search: 'notes.html', until: 'loaded', ...options,
    answer: (path) => (path === '/notes.html' ? { body: html, headers: { 'content-type': 'text/html; charset=utf-8', ...headers } } : undefined),
  });
}

const drawnElements = (page: any, count: number) => page.waitForFunction((all: number) =>
  [...document.querySelectorAll('linear-mem')].filter(({ shadowRoot }) => shadowRoot?.querySelector('svg[role="img"]') && shadowRoot.querySelector('.figure .figure-status')?.textContent === '').length === all, count);

// What the reader sees of a figure: where everything stands and in what size and colour.
const looks = (page: any): Promise<string[]> => page.evaluate(() => {
  const root = document.querySelector('linear-mem')!.shadowRoot!;
  const origin = root.querySelector('.box')!.getBoundingClientRect();
  return [...root.querySelectorAll('.box, .box *:not(option)')].filter((node) => node.checkVisibility()).map((node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    const place = [left - origin.left, top - origin.top, width, height].map((value) => Math.round(value)).join(' ');
    return `${node.tagName} ${place} ${style.color} ${style.fontSize} ${style.fontFamily.slice(0, 20)} ${style.direction} ${style.letterSpacing} ${style.textAlign}`;
  });
});

test('a page that styles everything, in another direction and with another root size, does not harm the figure', async () => {
  const figure = `${script}<div style="width:800px"><linear-mem figure="memory-tradeoff" theme="light" lang="en"></linear-mem></div>`;
  const plain = await notes(figure);
  await drawnElements(plain.page, 1);
  const hostile = await notes(figure, { head: `<style>:root{font-size:5px;--ground:red;--ink:red;--sans:monospace;direction:rtl}
    *{color:red !important;font-size:40px !important;letter-spacing:5px !important;text-align:center !important;text-transform:uppercase;line-height:3 !important;word-spacing:9px}
    button,input,svg,p,div{background:lime !important;transform:rotate(3deg);padding:30px !important}div{padding:0 !important;transform:none}</style>` });
  await drawnElements(hostile.page, 1);
  expect(await looks(hostile.page)).toEqual(await looks(plain.page));
  expect(hostile.complaints).toEqual([]);
});

test('on an isolated host page the figure is drawn as anywhere', async () => {
  const headers = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
  const { page, complaints } = await notes(`${script}<linear-mem figure="memory-tradeoff"></linear-mem>`, { headers });
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  await drawnElements(page, 1);
  expect(page.workers()).toHaveLength(1);
  expect(complaints).toEqual([]);
});

test('many figures have one engine: one worker, one script, each module once', async () => {
  const { page, site, complaints } = await notes(`${script}<linear-mem figure="memory-tradeoff"></linear-mem><linear-mem figure="ledger" lang="zh"></linear-mem>
    <linear-mem figure="memory-tradeoff" beta="0.5"></linear-mem>${script}`);
  for (const host of await page.$$('linear-mem')) await host.scrollIntoViewIfNeeded();
  await drawnElements(page, 3);
  expect(page.workers()).toHaveLength(1);
  const fetched = site.log.map(({ path }) => path).filter(isWasm);
  expect(fetched.length).toBeGreaterThan(1);
  expect(new Set(fetched).size).toBe(fetched.length);
  expect(complaints).toEqual([]);
});

test('attributes are clamped and watched: settings, language, theme, hidden knobs, another figure, and what is no figure', async () => {
  const { page, complaints } = await notes(`${script}<linear-mem figure="memory-tradeoff" beta="1e309" key-width="&lt;script&gt;" alpha="0.5" lang="en" theme="dark" hide="alpha"></linear-mem>`);
  await drawnElements(page, 1);
  const set = (name: string, value: string) => page.evaluate(([n, v]: string[]) => document.querySelector('linear-mem')!.setAttribute(n!, v!), [name, value]);
  const inside = (selector: string) => page.locator(`linear-mem ${selector}`).first();
  expect(await inside('.figure-foot .command code').innerText()).toBe('linearmem sweep memory-tradeoff --set beta=2 --set alpha=0.5 --csv');
  expect(await page.locator('linear-mem').getByRole('slider', { name: /^α/ }).count()).toBe(0);
  expect(await page.locator('linear-mem').getByRole('slider', { name: /^β/ }).count()).toBe(1);
  const ground = () => inside('.box').evaluate((box: Element) => getComputedStyle(box).backgroundColor);
  expect(await ground()).toBe('rgb(21, 24, 27)');
  await set('theme', 'light');
  expect(await ground()).toBe('rgb(253, 253, 251)');
  await set('lang', 'zh');
  await page.getByRole('button', { name: '复制嵌入代码' }).waitFor();
  await set('figure', 'hopfield');
  await page.waitForFunction(() => document.querySelector('linear-mem')!.shadowRoot!.querySelector('.figure-foot code')?.textContent === 'linearmem sweep hopfield --set beta=64 --csv'); // its own beta, clamped to its own limits
  await set('figure', '<img src=x>');
  await page.waitForFunction(() => document.querySelector('linear-mem')!.shadowRoot!.textContent!.includes('没有名为 <img src=x> 的图'));
  expect(await page.locator('linear-mem img').count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('what stands inside the tag is shown until the figure is there, and stays with a sentence if it never comes', async () => {
  const body = `${script}<linear-mem figure="memory-tradeoff" lang="en"><p id="picture">a picture</p></linear-mem>`;
  const well = await notes(body);
  await drawnElements(well.page, 1);
  expect(await well.page.locator('#picture').isVisible()).toBe(false);
  const headers = { 'content-security-policy': "script-src 'self'" };
  const { page } = await notes(body, { headers });
  await page.waitForFunction(() => document.querySelector('linear-mem')!.shadowRoot!.textContent!.includes("needs 'wasm-unsafe-eval' in script-src"));
  expect(await page.locator('#picture').isVisible()).toBe(true);
});

test('every figure of every room is an element; axe finds nothing, and the symbols\' font is there', async () => {
  const names = [...catalogue.experiments, ...catalogue.timings].map(({ name }) => name);
  const { page, complaints } = await notes(`<main><h1>notes</h1>${script}${names.map((name) => `<linear-mem figure="${name}" lang="en"></linear-mem>`).join('')}</main>`, { browser: { bypassCSP: true } });
  for (const host of await page.$$('linear-mem')) {
    await host.scrollIntoViewIfNeeded();
    await page.waitForFunction((one: any) => one.shadowRoot.querySelector('svg[role="img"], button.start'), host);
  }
  expect(await page.evaluate(() => document.fonts.check('italic 16px KaTeX_Math'))).toBe(true);
  await page.addScriptTag({ content: axeSource });
  const { violations } = await page.evaluate(() => (window as any).axe.run());
  expect(violations.map(({ id, nodes }: any) => `${id}: ${nodes.slice(0, 3).map(({ html }: any) => html.slice(0, 160)).join(' | ')}`)).toEqual([]);
  expect(complaints).toEqual([]);
});

test.each(['en', 'zh'])('an iframe takes the height of its figure: no scrolling inside (%s), and only a frame\'s own word counts', async (language) => {
  const frame = (id: string) => `<iframe id="${id}" title="${id}" style="width:600px;height:200px;border:0" src="/embed.html?figure=memory-tradeoff&lang=${language}&onload=alert(1)"></iframe>`;
  const { page, complaints } = await notes(`<script src="/frames.js"></script>${frame('one')}${frame('two')}`);
  await page.waitForFunction(() => [...document.querySelectorAll('iframe')].every((one) => one.getBoundingClientRect().height > 500));
  for (const child of page.frames().slice(1)) {
    await child.waitForFunction(() => document.querySelector('linear-mem')!.shadowRoot!.querySelector('svg[role="img"]'));
    await child.waitForFunction(() => document.documentElement.scrollHeight - innerHeight <= 1);
  }
  const height = () => page.locator('#one').evaluate((one: Element) => one.getBoundingClientRect().height);
  const before = await height();
  await page.evaluate(() => {
    for (const height of [300, 1e9, 'x', null, NaN]) postMessage({ type: 'linear-mem:height', height }, '*');
    postMessage('linear-mem:height', '*');
  });
  await page.frames()[1].evaluate(() => parent.postMessage({ type: 'linear-mem:height', height: 1e12 }, '*'));
  await page.waitForFunction(() => document.querySelector('#one')!.getBoundingClientRect().height === 20_000);
  expect(await page.locator('#two').evaluate((two: Element) => two.getBoundingClientRect().height)).toBe(before);
  expect(complaints).toEqual([]);
});
