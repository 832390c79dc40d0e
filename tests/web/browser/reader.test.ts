// What every reader must be able to do: read in either language, on a phone, in the dark, by keyboard, without scripts.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { claims } from '../../../web/src/texts/en/claims.ts';
import { require } from '../browser.mjs';
import { drawn, openFile, settled, siteFolder, textOf, useBrowser, visit } from './session.ts';

useBrowser();

const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };
const foreign = (page: any, language: string): Promise<string[]> => page.evaluate((hidden: string) =>
  [...document.querySelectorAll<HTMLElement>(`body [lang|="${hidden}"]`)].filter((node) => node.checkVisibility() && node.textContent!.trim() !== '')
    .map((node) => node.textContent!), language === 'en' ? 'zh' : 'en');

const laidOut = (page: any): Promise<boolean[]> => page.evaluate(() =>
  ['#storage h2', '#yourself h2'].map((place) => document.querySelector(place)!.checkVisibility({ contentVisibilityAuto: true })));

test('the browser\'s language is followed: Chinese', async () => {
  const { page, complaints } = await visit({ until: 'computed', browser: { locale: 'zh-CN' } });
  await drawn(page);
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-Hans');
  expect(await page.title()).toBe('LinearMem：关于线性记忆的陈述成立吗？');
  expect(await textOf(page, '.summary')).toMatch(new RegExp(`^${Object.keys(claims).length} 条陈述全部成立。`));
  expect(await textOf(page, '#LM08 .verdict')).toMatch(/^成立\s+每一位都相同，容许 1e−15$/);
  expect(await textOf(page, '#LM08 .words')).toContain('同一个键写入两次');
  expect(await page.locator('.figure .panel-title').first().textContent()).toBe('必须保存多少');
  expect(await foreign(page, 'zh')).toEqual(['English']);
  expect(new URL(page.url()).search).toBe('');
  expect(complaints).toEqual([]);
});

test('lang in the address decides, and both languages can be switched to with the state kept', async () => {
  const { page } = await visit({ until: 'drawn', search: '?lang=zh&break=no-reset', browser: { locale: 'en-GB' } });
  expect(await textOf(page, '.break-summary')).toBe('受影响的 2 条陈述中有 2 条不再成立。');
  await page.locator('#LM21 .open').click();
  await page.getByRole('link', { name: 'English' }).click();
  await page.waitForFunction(() => document.documentElement.lang === 'en');
  await page.waitForFunction(() => document.querySelector('.break-summary')!.textContent === '2 of the 2 statements it touches fall.');
  expect(await textOf(page, '#LM21-details')).toContain('Computed with: No reset between requests.');
  expect(await page.locator('.figure .panel-title').first().textContent()).toBe('What must be stored');
  expect(new URL(page.url()).search).toBe('?break=no-reset');
  expect(await foreign(page, 'en')).toEqual(['中文']);
  await page.goBack();
  await page.waitForFunction(() => document.documentElement.lang === 'zh-Hans');
});

test.each(['en', 'zh'])('nothing scrolls sideways at 360 pixels, opened and broken (%s)', async (language) => {
  const mistakes = 'read-before-write,half-beta,no-forgetting,single-precision,no-reset,error-before-decay,no-causal-mask';
  const { page } = await visit({ until: 'drawn', search: `?lang=${language}&break=${mistakes}`, browser: phone });
  await page.evaluate(() => {
    document.querySelectorAll<HTMLElement>('.claims .open').forEach((button) => button.click());
    document.querySelectorAll('details').forEach((fold) => { fold.open = true; });
  });
  const tooWide: string[] = await page.evaluate(() => [...document.querySelectorAll('body *')]
    .filter((node) => !node.closest('.katex-mathml, .katex .hide-tail, .skip, .mistake input') && node.getBoundingClientRect().right > innerWidth + 0.5)
    .map((node) => `${node.tagName}.${node.getAttribute('class')} ${node.textContent!.slice(0, 40)}`));
  expect(tooWide).toEqual([]);
  expect(await page.locator('#LM01').evaluate((row: Element) => getComputedStyle(row).display)).toBe('grid'); // a card
  const labels: string[] = await page.locator('#LM01 .number').evaluateAll((cells: Element[]) => cells.map((cell) => getComputedStyle(cell, '::before').content));
  expect(labels).toHaveLength(5);
  for (const label of labels) expect(label).toMatch(language === 'zh' ? /^"[\u4e00-\u9fff]+"$/ : /^"[a-z ]+"$/);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});

test.each([['en', 'light'], ['en', 'dark'], ['zh', 'light'], ['zh', 'dark']])('axe finds nothing to mend (%s, %s)', async (language, colorScheme) => {
  const { page } = await visit({ until: 'drawn', search: `?lang=${language}&break=half-beta#LM08`, browser: { colorScheme, bypassCSP: true } });
  await page.locator('#LM08-details').waitFor();
  await page.evaluate(() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; }));
  await page.addScriptTag({ content: axeSource });
  const { violations } = await page.evaluate(() => (window as any).axe.run());
  expect(violations.map(({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html.slice(0, 200)).join(' | ')}`)).toEqual([]);
});

test('axe finds nothing to mend on a phone', async () => {
  const { page } = await visit({ until: 'drawn', browser: { ...phone, bypassCSP: true } });
  await page.addScriptTag({ content: axeSource });
  const { violations } = await page.evaluate(() => (window as any).axe.run());
  expect(violations.map(({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html.slice(0, 200)).join(' | ')}`)).toEqual([]);
});

test('the formulas\' fonts are really loaded', async () => {
  const { page, site } = await visit();
  await page.evaluate(() => document.fonts.ready);
  const loaded: string[] = await page.evaluate(() => [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family));
  for (const family of ['KaTeX_Main', 'KaTeX_Math', 'KaTeX_Size1']) expect(loaded).toContain(family);
  expect(site.log.filter(({ status }) => status !== 200)).toEqual([]);
});

test('text is readable before the module arrives, and progress is told', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => { release = resolve; });
  const { page } = await visit({
    until: 'loaded', prepare: async (fresh) => { await fresh.route(/\.wasm$/, async (route: any) => { await held; await route.continue(); }); },
  });
  await page.waitForFunction(() => document.querySelector('.summary')!.textContent === 'Loading the module.');
  expect(await laidOut(page)).toEqual([true, false]); // the first answer does not wait for what is out of sight
  await page.locator('#LM01').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector<HTMLElement>('#LM01 .words')!.innerText.includes('An explicit history'));
  release();
  await settled(page);
  await page.waitForFunction(() => document.documentElement.dataset.opening === undefined);
  expect(await laidOut(page)).toEqual([true, true]);
});

test('a page that is entered at a place further down is laid out at once', async () => {
  const { page } = await visit({ until: 'loaded', search: '#claims', answer: (path) => (/\.wasm$/.test(path) ? { status: 404, body: 'gone' } : undefined) });
  expect(await laidOut(page)).toEqual([true, true]);
});

test('without scripts both languages and the reason can be read', async () => {
  const { page } = await visit({ until: 'loaded', browser: { javaScriptEnabled: false } });
  const text = await page.locator('body').innerText();
  expect(text).toContain('please allow scripts for this page');
  expect(text).toContain('请允许本页运行脚本');
  expect(text).toContain('When one key is written twice');
  expect(text).toContain('同一个键写入两次');
});

test('opened as a file, the page says what to do', async () => {
  const { page } = await openFile(`file://${siteFolder}/index.html`);
  await page.locator('.trouble-file').waitFor({ state: 'visible' });
  expect(await page.locator('.trouble:visible').count()).toBe(1);
  expect(await textOf(page, '.trouble-file')).toContain('python3 -m http.server');
});

test('the printed page has no controls', async () => {
  const { page } = await visit({ until: 'drawn' });
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('button:visible').count()).toBe(0);
  expect(await page.locator('#memory-tradeoff .figure svg.curves:visible').count()).toBe(2);
});

test('printing first computes the figures that were not seen', async () => {
  const { page } = await visit({ until: 'drawn', prepare: (fresh) => fresh.addInitScript(() => { window.print = () => { document.title = 'printed'; }; }) });
  expect(await page.locator('#hopfield svg[role="img"]').count()).toBe(0);
  await page.keyboard.press('Control+p');
  await page.waitForFunction(() => document.title === 'printed');
  const bare: string[] = await page.locator('[data-figure]').evaluateAll((hosts: HTMLElement[]) =>
    hosts.filter((host) => !host.querySelector('svg[role="img"], button.start')).map((host) => host.dataset.figure));
  expect(bare).toEqual([]);
});

test('on a slow network text is readable first, progress is told, and nothing moves', async () => {
  const { page } = await visit({ until: 'loaded', prepare: async (fresh) => {
    await fresh.addInitScript(() => {
      const seen = { shift: 0, loading: false };
      Object.assign(window, { seen });
      new PerformanceObserver((list) => { for (const entry of list.getEntries()) seen.shift += (entry as any).value; }).observe({ type: 'layout-shift', buffered: true });
      document.addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
        seen.loading ||= /^(Loading|Computing)/.test(document.querySelector('.summary')!.textContent!);
      }).observe(document.querySelector('.summary')!, { childList: true, subtree: true, characterData: true }));
    });
    const line = await fresh.context().newCDPSession(fresh);
    await line.send('Network.enable');
    await line.send('Network.emulateNetworkConditions', { offline: false, latency: 150, downloadThroughput: 2e5, uploadThroughput: 2e5 });
    await line.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  } });
  expect(await textOf(page, 'h1')).not.toBe('');
  await settled(page);
  await page.waitForTimeout(1000);
  const seen = await page.evaluate(() => (window as any).seen);
  expect(seen.loading).toBe(true);
  expect(seen.shift).toBeLessThan(0.02);
});
