// The figure of the kNN memory: a poisoned record takes over at low temperature, one of another domain is refused in the core's own words.
import { expect, test } from 'vitest';
import { useBrowser, visit } from './session.ts';

useBrowser();

async function drawn(search: string): Promise<{ plane: string; tokens: string; complaints: unknown[] }> {
  const { page, complaints } = await visit({ search });
  await page.locator('#knn-neighbours').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelectorAll('#knn-neighbours svg[role="img"]').length === 3
    && document.querySelector('#knn-neighbours .figure-status')!.textContent === '');
  const figures = page.locator('#knn-neighbours svg[role="img"]');
  const plane = (await figures.nth(0).textContent())!.replace(/\s+/g, ' ');
  return { plane, tokens: (await figures.nth(2).getAttribute('aria-label'))!, complaints };
}

const memory = (description: string) => Number(/(?:^|[:;] )memory ([\d.]+)/.exec(description)![1]);

test('the poisoned token has nothing of the memory, and with poison nearly all of it', async () => {
  const plain = await drawn('?knn-neighbours.temperature=0.001');
  const poisoned = await drawn('?knn-neighbours.temperature=0.001&knn-neighbours.poison=1');
  expect(memory(plain.tokens)).toBe(0); // the last token is E
  expect(memory(poisoned.tokens)).toBeGreaterThan(0.9);
  expect([...plain.complaints, ...poisoned.complaints]).toEqual([]);
});

test('a record of another domain is refused and changes nothing', async () => {
  const own = await drawn('');
  const foreign = await drawn('?knn-neighbours.foreign=1');
  expect(own.plane).not.toContain('domain differs');
  expect(foreign.plane.replace(/ /g, '')).toContain('domaindiffers:thestorehas"own","foreign"isexpected');
  expect(foreign.tokens).toBe(own.tokens);
  expect(foreign.complaints).toEqual([]);
});
