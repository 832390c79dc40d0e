// The course as a reader goes through it: step by step, a thing to try, a mistake to make, and the way through the chapters.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { textOf, useBrowser, visit } from './session.ts';

useBrowser();

const cells = (page: any, figure: string, caption: string): Promise<string[]> => page.locator(`#${figure} svg.heatmaps title`).evaluateAll(
  (all: Element[], name: string) => all.map((title) => title.textContent!).filter((text) => text.startsWith(`${name} [`)).map((text) => text.split(' = ')[1]!), caption);

async function come(page: any, figure: string): Promise<void> {
  await page.locator(`#${figure}`).scrollIntoViewIfNeeded();
  await page.waitForFunction((id: string) => document.querySelector(`#${id} svg.heatmaps`) !== null && document.querySelector(`#${id} .figure-status`)!.textContent === '', figure);
}

test('tokens are stepped through by keyboard: before plus written is after, and every output so far is there', async () => {
  const { page, complaints } = await visit({ until: 'settled' });
  await come(page, 'recurrent-state');
  const next = page.locator('#recurrent-state').getByRole('button', { name: 'Next token' });
  await next.focus();
  for (let token = 4; token <= 8; token += 1) {
    await page.keyboard.press('Enter');
    await page.waitForFunction((step: number) => document.querySelectorAll('#recurrent-state svg.heatmaps:last-of-type title').length === 3 * (step + 8), token);
    const [before, written, after] = await Promise.all(['before', 'written', 'after'].map(async (name) => (await cells(page, 'recurrent-state', name)).map(Number)));
    expect(after!.length).toBe(12 + 4); // S and z
    after!.forEach((value, i) => expect(before![i]! + written![i]!).toBeCloseTo(value, 12));
  }
  await page.keyboard.press('Enter'); // there is no ninth
  expect(await textOf(page, '#recurrent-state .stepper output')).toBe('token 8 of 8');
  expect(new URL(page.url()).searchParams.get('recurrent-state.token')).toBe('8');
  expect(await next.evaluate((button: Element) => button === document.activeElement)).toBe(true);
  expect(complaints).toEqual([]);
});

test('a thing to try sets the figure and the address; a mistake fells the chapter\'s statements and says so in its command', async () => {
  const { page, complaints } = await visit({ until: 'settled', search: '?correction.rho=0.25' });
  await come(page, 'recurrent-state');
  await page.locator('#state [data-try]').click();
  await page.waitForFunction(() => document.querySelector('#recurrent-state svg.heatmaps:last-of-type title')!.textContent === 'step by step [1, 1] = 0');
  expect(new URL(page.url()).search).toBe('?recurrent-state.order=1&correction.rho=0.25');
  expect(await textOf(page, '#recurrent-state .figure-foot .command code')).toBe('linearmem sweep recurrent-state --set order=1 --csv');
  await page.locator('#state .grounds').scrollIntoViewIfNeeded(); // statements are computed when the reader comes to them
  await page.waitForFunction(() => document.querySelector('#state .tally')!.textContent === '6 statements, all hold.');
  await page.locator('#state .mistake label').click();
  await page.waitForFunction(() => document.querySelector('#state .tally')!.textContent === '4 of 6 statements fall.');
  await page.locator('#state .grounds summary').click();
  expect(await textOf(page, '#state .mistake .why')).toContain('before its own pair is in it');
  expect(await textOf(page, '#state .grounds-command code')).toMatch(/^linearmem verify LM03 .* --mistake read-before-write$/);
  expect(await page.locator('[data-mistake="read-before-write"] input').isChecked()).toBe(true);
  expect(await textOf(page, '#state [data-ground="LM14"]')).toContain('Reading before writing makes the first output exactly zero');
  await page.getByRole('link', { name: '中文' }).click();
  await page.waitForFunction(() => document.querySelector('#state .tally')!.textContent === '6 条陈述中有 4 条不再成立。');
  expect(complaints).toEqual([]);
});

test('an error by one shows below the diagonal blocks alone, in the cells and in the table', async () => {
  const { page } = await visit({ until: 'settled', search: '?scan-matrix.boundary=1' });
  await come(page, 'scan-matrix');
  const difference = (await cells(page, 'scan-matrix', 'difference')).map(Number);
  expect(difference.length).toBe(64);
  difference.forEach((value, i) => {
    if (i % 8 < 4 && i >= 32) expect(value).toBeGreaterThan(0.01);
    else expect(value).toBeCloseTo(0, 12);
  });
  await page.locator('#scan-matrix .numbers-fold summary').click();
  const table = page.locator('#scan-matrix table.data', { has: page.locator('caption', { hasText: 'difference' }) });
  expect(await table.locator('tbody tr').count()).toBe(8);
  expect(await table.locator('tbody tr').nth(4).locator('td').first().getAttribute('title')).toBe(String(difference[32]));
  await page.locator('#scan-matrix').getByRole('combobox').selectOption('0');
  await page.waitForFunction(() => [...document.querySelectorAll('#scan-matrix svg.heatmaps title')].filter(({ textContent }) => textContent!.startsWith('difference ['))
    .every(({ textContent }) => Math.abs(Number(textContent!.split(' = ')[1])) < 1e-12));
  expect(new URL(page.url()).search).toBe('');
});

test('on a phone the contents unfold, lead to a chapter, and say where the reader is', async () => {
  const { page } = await visit({ until: 'settled', browser: { viewport: { width: 360, height: 740 } } });
  const button = page.locator('.contents-button');
  await button.focus();
  await page.keyboard.press('Enter');
  expect(await page.locator('.contents ol').isVisible()).toBe(true);
  await page.keyboard.press('Escape');
  expect(await page.locator('.contents ol').isVisible()).toBe(false);
  await page.keyboard.press('Enter');
  await page.locator('.contents a[href="#scan"]').click();
  await page.waitForFunction(() => document.querySelector('.contents-here')!.textContent!.includes('A scan and its matrix'));
  expect(await page.locator('.contents ol').isVisible()).toBe(false);
  expect(await page.evaluate(() => location.hash)).toBe('#scan');
});

test('cells keep their numbers legible in both themes, also in what is saved', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const { page } = await visit({ until: 'settled', browser: { colorScheme } });
    await come(page, 'recurrent-state');
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#recurrent-state').getByRole('button', { name: 'SVG', exact: true }).click()]);
    const svg = readFileSync(await download.path(), 'utf8');
    expect(svg).not.toMatch(/var\(|class=/);
    const least = await page.evaluate((source: string) => {
      const picture = new DOMParser().parseFromString(source, 'image/svg+xml');
      const channels = (color: string) => {
        const probe = new OffscreenCanvas(1, 1).getContext('2d')!;
        probe.fillStyle = color;
        probe.fillRect(0, 0, 1, 1);
        return [...probe.getImageData(0, 0, 1, 1).data.slice(0, 3)];
      };
      const light = (color: number[]) => color.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
        .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i]!, 0);
      const ground = channels(picture.querySelector('rect')!.getAttribute('fill')!);
      let worst = Infinity;
      for (const text of picture.querySelectorAll('rect:has(title) + text')) {
        const cell = text.previousElementSibling!;
        const share = Number(cell.getAttribute('fill-opacity'));
        const behind = channels(cell.getAttribute('fill')!).map((value, i) => share * value + (1 - share) * ground[i]!);
        const [a, b] = [light(channels(text.getAttribute('fill')!)), light(behind)].sort((x, y) => y - x);
        worst = Math.min(worst, (a! + 0.05) / (b! + 0.05));
      }
      return worst;
    }, svg);
    expect(least, colorScheme).toBeGreaterThan(4.5);
    expect(least, colorScheme).toBeLessThan(21);
  }
});
