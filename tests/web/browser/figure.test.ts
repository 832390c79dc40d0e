// The memory-tradeoff figure: knobs, address, reset, and what is saved.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawn, textOf, useBrowser, visit } from './session.ts';

useBrowser();

const query = (page: any, name: string) => new URL(page.url()).searchParams.get(`memory-tradeoff.${name}`);
const descriptions = (page: any): Promise<string[]> =>
  page.locator('#memory-tradeoff .figure svg[role="img"]').evaluateAll((all: Element[]) => all.map((svg) => svg.getAttribute('aria-label')));

async function saved(page: any, format: string): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#memory-tradeoff').getByRole('button', { name: format, exact: true }).click()]);
  expect(download.suggestedFilename()).toBe(`memory-tradeoff.${format.toLowerCase()}`);
  return readFileSync(await download.path());
}

async function setBox(page: any, name: RegExp, value: string) {
  const before = await descriptions(page);
  await page.locator('#memory-tradeoff').getByRole('spinbutton', { name }).fill(value);
  await page.keyboard.press('Enter');
  await page.waitForFunction((old: string) =>
    [...document.querySelectorAll('#memory-tradeoff .figure svg[role="img"]')].map((svg) => svg.getAttribute('aria-label')).join() !== old, before.join());
}

test('two panels with a line for each series, labelled at its end and described in a sentence', async () => {
  const { page, complaints } = await visit({ until: 'drawn' });
  const [storage, crosstalk] = await descriptions(page);
  expect(storage).toMatch(/1\s048\s576: explicit keys and values 512\sMiB; window 512\sKiB; linear attention 16\.25\sKiB\.$/);
  expect(crosstalk).toContain('outer product 1; delta, first key 1.414; delta, second key 0;');
  expect(await page.locator('#memory-tradeoff .figure svg.curves').count()).toBe(2);
  expect(await page.locator('#memory-tradeoff .figure .line-label').allTextContents()).toHaveLength(8);
  expect(complaints).toEqual([]);
});

test('a knob moves the figure, the command and the address; reset and back undo it', async () => {
  const { page } = await visit({ until: 'drawn' });
  const before = await descriptions(page);
  await setBox(page, /^β/, '0');
  expect(query(page, 'beta')).toBe('0');
  expect(await textOf(page, '#memory-tradeoff .figure-foot .command code')).toBe('linearmem sweep memory-tradeoff --set beta=0 --csv');
  expect((await descriptions(page))[1]).toContain('delta, first key 0;');
  await setBox(page, /^K/, '999999');
  expect(query(page, 'key_width')).toBe('1024');
  await page.goBack();
  await page.waitForFunction(() => !location.search.includes('key_width'));
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[type="number"][aria-label^="K"]')!.value === '64');
  expect(await textOf(page, '#memory-tradeoff .figure-foot .command code')).toBe('linearmem sweep memory-tradeoff --set beta=0 --csv');
  await page.locator('#memory-tradeoff').getByRole('button', { name: 'Reset' }).click();
  await page.waitForFunction((old: string) =>
    [...document.querySelectorAll('#memory-tradeoff .figure svg[role="img"]')].map((svg) => svg.getAttribute('aria-label')).join() === old, before.join());
  expect(new URL(page.url()).search).toBe('');
});

test('a slider and its box are one knob, and turning it moves nothing else', async () => {
  const { page } = await visit({ until: 'drawn' });
  const place = () => page.locator('#memory-tradeoff .figure-foot').evaluate((foot: Element) => foot.getBoundingClientRect().top + scrollY);
  const before = await place();
  const slider = page.locator('#memory-tradeoff').getByRole('slider', { name: /^α/ });
  await slider.focus();
  await page.keyboard.press('Home');
  await page.waitForFunction(() => new URLSearchParams(location.search).get('memory-tradeoff.alpha') === '0');
  expect(await page.locator('#memory-tradeoff').getByRole('spinbutton', { name: /^α/ }).inputValue()).toBe('0');
  expect(await place()).toBe(before);
});

test('what is typed and is no number leaves the knob as it was', async () => {
  const { page } = await visit({ until: 'drawn', search: '?memory-tradeoff.beta=0.5' });
  const box = page.locator('#memory-tradeoff').getByRole('spinbutton', { name: /^β/ });
  await box.fill('');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[type="number"][aria-label^="β"]')!.value === '0.5');
  expect(query(page, 'beta')).toBe('0.5');
});

test('a deep link sets the knobs, hostile values are clamped or ignored', async () => {
  const { page, complaints } = await visit({
    until: 'drawn',
    search: '?memory-tradeoff.beta=1e309&memory-tradeoff.alpha=%3Cscript%3Ealert(1)%3C/script%3E&memory-tradeoff.key_width=7&lang=%22%3E%3Cimg%3E',
  });
  expect(await textOf(page, '#memory-tradeoff .figure-foot .command code')).toBe('linearmem sweep memory-tradeoff --set beta=2 --set key_width=7 --csv');
  expect(await page.locator('main script, main img').count()).toBe(0);
  expect(complaints).toEqual([]);
});

test.each(['light', 'dark'])('SVG and PNG are saved with every style resolved, %s', async (colorScheme) => {
  const { page, complaints } = await visit({ until: 'drawn', browser: { colorScheme } });
  const svg = (await saved(page, 'SVG')).toString();
  expect(svg).not.toMatch(/var\(|class=|NaN/);
  expect(svg).toContain(colorScheme === 'dark' ? 'fill="#15181b"' : 'fill="#fdfdfb"');
  expect(svg.match(/<path/g)!.length).toBeGreaterThan(8);
  const parsed = await page.evaluate((text: string) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')?.textContent, svg);
  expect(parsed).toBeUndefined();
  const png = await saved(page, 'PNG');
  const width = Number(/width="(\d+)"/.exec(svg)![1]);
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect(png.readUInt32BE(16)).toBe(2 * width);
  expect(complaints).toEqual([]);
});

test('CSV is saved with the numbers of the table under the figure', async () => {
  const { page } = await visit({ until: 'drawn', search: '?memory-tradeoff.element_bytes=2' });
  const csv = (await saved(page, 'CSV')).toString();
  expect(csv).toContain('"storage","linear_attention","state and normalizer",65536,8320,,\n');
  await page.locator('#memory-tradeoff .numbers-fold summary').click();
  expect(await page.locator('#memory-tradeoff .figure table.data').count()).toBe(2);
  const row = page.locator('#memory-tradeoff .figure table.data').first().locator('tr', { has: page.locator('th', { hasText: /^65\s536$/ }) });
  expect(await row.innerText()).toMatch(/16\sMiB\s+256\sKiB\s+8\.125\sKiB/);
});

test('JSON is saved with the settings, the command and the numbers of the CSV', async () => {
  const { page } = await visit({ until: 'drawn', search: '?memory-tradeoff.element_bytes=2' });
  const { experiment, settings, command, panels } = JSON.parse((await saved(page, 'JSON')).toString());
  expect({ experiment, command }).toEqual({ experiment: 'memory-tradeoff', command: 'linearmem sweep memory-tradeoff --set element_bytes=2 --csv' });
  expect(settings).toMatchObject({ element_bytes: 2, beta: 1, key_width: 64 });
  const state = panels[0].series.find(({ memory }: any) => memory === 'linear_attention');
  expect(state.y[state.x.indexOf(65536)]).toBe(8320);
});

test('the address hides knobs; link and embed code carry what differs from the default', async () => {
  const { page } = await visit({ until: 'drawn', search: '?lang=en&hide=alpha,memory-tradeoff.key_width&memory-tradeoff.beta=0.5', browser: { permissions: ['clipboard-read', 'clipboard-write'] } });
  const knobs: string[] = await page.locator('#memory-tradeoff .knob var').allTextContents();
  expect(knobs).toContain('β');
  expect(knobs).not.toContain('α');
  expect(knobs).not.toContain('K');
  const copied = async (name: string) => {
    const button = await page.locator('#memory-tradeoff').getByRole('button', { name }).elementHandle();
    await button.click();
    await page.waitForFunction((clicked: Element) => clicked.textContent === 'Copied', button); // the other button may still say so, too
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const link = new URL(await copied('Copy link'));
  expect([link.search, link.hash]).toEqual(['?lang=en&hide=alpha,memory-tradeoff.key_width&memory-tradeoff.beta=0.5', '#memory-tradeoff']);
  const { origin } = new URL(page.url());
  expect(await copied('Copy embed code')).toBe(`<script src="${origin}/linear-mem.js" defer></script>\n<linear-mem figure="memory-tradeoff" beta="0.5" lang="en"></linear-mem>`);
});

test('values show under the pointer', async () => {
  const { page, complaints } = await visit({ until: 'drawn' });
  const curves = page.locator('#memory-tradeoff .figure svg.curves').first();
  await curves.scrollIntoViewIfNeeded();
  const box = (await curves.boundingBox())!;
  expect((await page.locator('#memory-tradeoff .figure svg .tip').allTextContents()).join('')).toBe('');
  await page.mouse.move(box.x + box.width * 0.45, box.y + box.height * 0.5);
  await page.waitForFunction(() => /text length/.test(document.querySelector('#memory-tradeoff .figure svg .tip')?.textContent ?? ''));
  expect(complaints).toEqual([]);
});

test('the figure fits a phone and is redrawn when the window widens', async () => {
  const { page } = await visit({ until: 'drawn', browser: { viewport: { width: 360, height: 800 } } });
  const widths = () => page.locator('#memory-tradeoff .figure svg.curves').evaluateAll((all: Element[]) => all.map((svg) => Number(svg.getAttribute('width'))));
  expect(await widths()).toEqual([328, 328]);
  await page.setViewportSize({ width: 1000, height: 800 });
  await page.waitForFunction(() => Number(document.querySelector('#memory-tradeoff .figure svg.curves')!.getAttribute('width')) > 400);
  await drawn(page);
});
