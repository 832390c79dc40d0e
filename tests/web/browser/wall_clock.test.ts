// The figure of times: it waits for its button, proves, measures with progress, draws, can be stopped, and keeps nothing else waiting.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { textOf, useBrowser, visit } from './session.ts';

useBrowser();

const status = (page: any): Promise<string> => textOf(page, '#wall-clock .figure-status');
const button = (page: any, name: string) => page.locator('#wall-clock').getByRole('button', { name, exact: true });
const descriptions = (page: any): Promise<string[]> =>
  page.locator('#wall-clock svg[role="img"]').evaluateAll((all: Element[]) => all.map((svg) => svg.getAttribute('aria-label')));

async function come(page: any): Promise<void> {
  await page.locator('#wall-clock').scrollIntoViewIfNeeded();
  await page.waitForSelector('#wall-clock .start');
}

const finished = (page: any) => page.waitForFunction(() =>
  document.querySelector('#wall-clock .figure-status')!.textContent === '' && document.querySelectorAll('#wall-clock svg[role="img"]').length === 2);

test('nothing is measured before the button is pressed; then every number is a time', async () => {
  const { page, complaints } = await visit({ search: '?wall-clock.width=16&wall-clock.longest=128' });
  await come(page);
  expect(await status(page)).toBe('Nothing is measured yet.');
  expect(await page.locator('#wall-clock svg').count()).toBe(0);
  expect(await textOf(page, '#wall-clock .figure-foot .command code')).toBe('linearmem sweep wall-clock --set width=16 --set longest=128 --csv');
  await button(page, 'Measure in this browser').click();
  await finished(page);
  expect(await button(page, 'Measure in this browser').count()).toBe(1);
  const [time, operations] = await descriptions(page);
  expect(time).toMatch(/^Measured here .* At the right end, length \(tokens\) 128: softmax [\d.e−]+; linear /);
  expect(operations).toContain('softmax 528\u202f384; linear 131\u202f072;');
  for (const label of [time, operations]) expect(label).not.toMatch(/NaN|undefined|\{|∞/);
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'CSV').click()]);
  const rows = readFileSync(await download.path(), 'utf8').trim().split('\n').slice(1).map((line) => line.split(','));
  const measured = rows.filter(([panel]) => panel === '"time"');
  expect(measured).toHaveLength(6 * 4);
  for (const [, , label, , ...numbers] of measured) {
    const [median, low, high] = numbers.map(Number) as [number, number, number];
    expect(low > 0 && low <= median && median <= high && Number.isFinite(high), `${label} ${numbers}`).toBe(true);
  }
  expect(complaints).toEqual([]);
});

test('a knob forgets what was measured with other settings, and Chinese says the same', async () => {
  const { page } = await visit({ search: '?lang=zh&wall-clock.width=16&wall-clock.longest=64' });
  await come(page);
  await button(page, '在本浏览器里测量').click();
  await finished(page);
  await page.locator('#wall-clock').getByRole('spinbutton', { name: /^T/ }).fill('128');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('#wall-clock svg').length === 0);
  expect(await status(page)).toBe('尚未测量。');
  expect(await textOf(page, '#wall-clock .figure-foot .command code')).toBe('linearmem sweep wall-clock --set width=16 --set longest=128 --csv');
});

test('while it measures, the rest of the page goes on; the button stops it, and what was drawn stays', async () => {
  const { page, complaints } = await visit({ until: 'drawn', search: '?wall-clock.width=256&wall-clock.longest=8192' });
  await come(page);
  await button(page, 'Measure in this browser').click();
  await page.waitForFunction(() => /^Measuring: \d+ %/.test(document.querySelector('#wall-clock .figure-status')!.textContent!));
  await page.waitForFunction(() => document.querySelectorAll('#wall-clock svg[role="img"]').length === 2);
  const before = await page.locator('#memory-tradeoff svg[role="img"]').last().getAttribute('aria-label');
  await page.locator('#memory-tradeoff').getByRole('spinbutton', { name: /^β/ }).fill('0');
  await page.keyboard.press('Enter');
  await page.waitForFunction((old: string) => [...document.querySelectorAll('#memory-tradeoff svg[role="img"]')].at(-1)!.getAttribute('aria-label') !== old, before);
  expect(await status(page)).toMatch(/^Measuring: /);
  await button(page, 'Cancel').click();
  await page.waitForFunction(() => document.querySelector('#wall-clock .figure-status')!.textContent === 'Stopped before it was finished: the figure is only a part, or still the one before.');
  expect(await button(page, 'Measure in this browser').count()).toBe(1);
  expect(await page.locator('#wall-clock svg[role="img"]').count()).toBe(2);
  expect(complaints).toEqual([]);
});
