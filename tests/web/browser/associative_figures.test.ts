// The figures of associative memory: each is drawn when it comes near, says its statistic, answers its knobs, and fits a phone.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { require } from '../browser.mjs';
import { textOf, useBrowser, visit } from './session.ts';

useBrowser();

const names = ['picture-readback', 'interference-growth', 'least-squares', 'responses', 'truncated-exponentials', 'softmax-weights', 'logn-sharpening',
  'noisy-query', 'hopfield'];
const sampled = ['interference-growth', 'least-squares', 'responses', 'truncated-exponentials', 'logn-sharpening', 'noisy-query'];

async function come(page: any, name: string): Promise<void> {
  await page.locator(`#${name}`).scrollIntoViewIfNeeded();
  await page.waitForFunction((id: string) => document.querySelector(`#${id} svg[role="img"]`) !== null
    && document.querySelector(`#${id} .figure-status`)!.textContent === '', name);
}

const description = (page: any, name: string): Promise<string> => page.locator(`#${name} svg[role="img"]`).first().getAttribute('aria-label');

test('none is computed before it comes near; then each is drawn and described, with its statistic, without complaints', async () => {
  const { page, complaints } = await visit();
  expect(await page.locator('#hopfield svg').count()).toBe(0);
  for (const name of names) {
    await come(page, name);
    for (const label of await page.locator(`#${name} svg[role="img"]`).evaluateAll((all: Element[]) => all.map((svg) => svg.getAttribute('aria-label')!))) {
      expect(label, name).not.toMatch(/NaN|undefined|\{/);
    }
    if (sampled.includes(name)) {
      const words = await page.locator(`#${name} svg[role="img"]`).textContent();
      for (const part of ['RMS', 'lines: theory; points: sampled, 95 % interval']) expect(words, name).toContain(part);
    }
    expect(await textOf(page, `#${name} .figure-foot .command code`)).toBe(`linearmem sweep ${name} --csv`);
  }
  expect(complaints).toEqual([]);
});

test('a reader draws a picture: the buttons, the figure, the address and back', async () => {
  const { page, complaints } = await visit();
  await come(page, 'picture-readback');
  const editor = page.locator('#picture-readback .picture-editor');
  expect(await editor.locator('[aria-pressed="true"]').count()).toBe(16);
  expect(await page.locator('#picture-readback .knob').count()).toBe(2); // the picture has no knobs
  await editor.getByRole('button', { name: 'Clear' }).click();
  await page.waitForFunction(() => document.querySelectorAll('#picture-readback .pixel[aria-pressed="true"]').length === 0);
  await editor.getByRole('button', { name: 'row 1, column 1' }).click();
  await editor.getByRole('button', { name: 'row 8, column 8' }).click();
  await page.waitForFunction(() => /picture_bottom=1$/.test(location.search));
  expect(new URL(page.url()).searchParams.get('picture-readback.picture_top')).toBe(String(2 ** 31));
  const grey = () => page.locator('#picture-readback svg.pictures rect[fill]').evaluateAll((all: Element[]) => all.slice(0, 64).map((cell) => cell.getAttribute('fill')));
  await page.waitForFunction(() => {
    const cells = [...document.querySelectorAll('#picture-readback svg.pictures rect[fill]')];
    return [0, 63].every((i) => cells[i]!.getAttribute('fill') === 'rgb(255,255,255)'); // the figures of both clicks are drawn
  });
  expect((await grey()).filter((fill: string) => fill === 'rgb(255,255,255)')).toHaveLength(2); // 0.707, past the scale
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll('#picture-readback .pixel[aria-pressed="true"]').length === 1);
  expect(complaints).toEqual([]);
});

test('a long sampling shows progress, and the next change drops it', async () => {
  const { page, complaints } = await visit();
  await come(page, 'interference-growth');
  const before = await description(page, 'interference-growth');
  const set = async (knob: RegExp, value: string) => {
    await page.locator('#interference-growth').getByRole('spinbutton', { name: knob }).fill(value);
    await page.keyboard.press('Enter');
  };
  await set(/^M/, '1000000');
  await page.waitForFunction(() => /^Sampling: \d+ % done(, about \d+ s left)?\.$/.test(document.querySelector('#interference-growth .figure-status')!.textContent!));
  await set(/^M/, '512');
  await page.waitForFunction(() => document.querySelector('#interference-growth .figure-status')!.textContent === '');
  expect(await description(page, 'interference-growth')).toBe(before);
  expect(complaints).toEqual([]);
});

test('the saved CSV has the intervals that the picture shows', async () => {
  const { page } = await visit();
  await come(page, 'least-squares');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#least-squares').getByRole('button', { name: 'CSV', exact: true }).click()]);
  const lines = readFileSync(await download.path(), 'utf8').trimEnd().split('\n');
  expect(lines[0]).toBe('panel,memory,label,x,y,low,high');
  const last = lines.filter((line) => line.includes('"least squares, RMS, sampled"')).at(-1)!.split(',').slice(-4).map(Number);
  expect(last[0]).toBe(128);
  expect(last[2]).toBeLessThan(last[1]!);
  expect(last[3]).toBeGreaterThan(last[1]!);
});

test.each(['en', 'zh'])('nothing scrolls sideways at 360 pixels, and axe finds nothing to mend (%s)', async (language) => {
  const { page } = await visit({ search: `?lang=${language}`, browser: { viewport: { width: 360, height: 740 }, hasTouch: true, bypassCSP: true } });
  for (const name of names) await come(page, name);
  await page.evaluate(() => document.querySelectorAll<HTMLDetailsElement>('.more-knobs').forEach((fold) => { fold.open = true; }));
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.addScriptTag({ content: readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8') });
  const { violations } = await page.evaluate((ids: string[]) => (window as any).axe.run({ include: ids.map((id) => [`#${id}`]) }), names);
  expect(violations.map(({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html.slice(0, 200)).join(' | ')}`)).toEqual([]);
});
