// The figures of what a fixed state can hold: a long one can be stopped and goes on afterwards; what a figure does not show is said.
import { expect, test } from 'vitest';
import { rooms } from '../../../web/src/rooms/recall.ts';
import { figures } from '../../../web/src/texts/en/figures.ts';
import { textOf, useBrowser, visit } from './session.ts';

useBrowser();

const status = (page: any, name: string): Promise<string> => page.locator(`#${name} .figure-status`).textContent();

async function come(page: any, name: string): Promise<void> {
  await page.locator(`#${name}`).scrollIntoViewIfNeeded();
  await page.waitForFunction((id: string) => document.querySelector(`#${id} svg[role="img"]`) !== null
    && document.querySelector(`#${id} .figure-status`)!.textContent === '', name);
}

async function set(page: any, name: string, knob: RegExp, value: string): Promise<void> {
  await page.locator(`#${name}`).getByRole('spinbutton', { name: knob }).fill(value);
  await page.keyboard.press('Enter');
}

test('every figure says what it does not show, and has words of its own for every line', async () => {
  const { page, complaints } = await visit();
  for (const name of Object.keys(rooms) as (keyof typeof figures.experiments)[]) {
    await come(page, name);
    expect(await textOf(page, `#${name} .not-shown`)).toContain(figures.experiments[name].notShown);
    const labels = await page.locator(`#${name} svg .line-label`).allTextContents();
    expect(labels.length, name).toBeGreaterThan(0);
    const words = Object.values(figures.experiments[name].series).join(' ');
    for (const label of labels) expect(words.replaceAll(' ', ''), name).toContain(label.replaceAll(/\s/g, ''));
  }
  expect(complaints).toEqual([]);
});

test('a long figure says how long it takes, can be stopped, keeps what it has, and answers the next change', async () => {
  const { page, complaints } = await visit();
  await come(page, 'recall-distance');
  const stop = page.locator('#recall-distance').getByRole('button', { name: 'Stop' });
  expect(await stop.isVisible()).toBe(false);
  const top = () => page.locator('#recall-distance .knobs').first().evaluate((knobs: HTMLElement) =>
    Math.round(knobs.getBoundingClientRect().top - knobs.closest('.figure')!.getBoundingClientRect().top)); // figures above may still be drawn
  const before = await top();
  await set(page, 'recall-distance', /^M/, '1024');
  await page.waitForFunction(() => /, about \d+ s left\.$/.test(document.querySelector('#recall-distance .figure-status')!.textContent!));
  await stop.click();
  await page.waitForFunction(() => document.querySelector('#recall-distance .figure-status')!.textContent === 'Stopped before it was finished: the figure is only a part, or still the one before.');
  expect(await stop.isVisible()).toBe(false);
  expect(await page.locator('#recall-distance svg[role="img"]').count()).toBe(1);
  expect(await top()).toBe(before);
  await set(page, 'recall-distance', /^M/, '64');
  await page.waitForFunction(() => document.querySelector('#recall-distance .figure-status')!.textContent === '');
  expect(await status(page, 'recall-distance')).toBe('');
  expect(complaints).toEqual([]);
});
