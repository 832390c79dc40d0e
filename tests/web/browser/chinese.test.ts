// A Chinese reader meets no English sentence, whoever wrote it: not in a figure, its table, its numbers or its hints, not in an opened claim.
// Names, formulas, code and the titles of publications stay as they are.
import { expect, test } from 'vitest';
import { catalogue } from 'virtual:linearmem/catalogue';
import { everyFigureDrawn } from '../browser.mjs';
import { useBrowser, visit } from './session.ts';

useBrowser();

const names = ['Gated DeltaNet', 'Kimi delta', ...catalogue.ledgerModels.map(({ name }) => name)];

// Three words in a row are a sentence that nobody translated.
const sentences = (texts: string[]) => texts.map((text) => names.reduce((rest, name) => rest.replaceAll(name, '·'), text))
  .filter((text) => /[A-Za-z]{2,}[,;:]? [A-Za-z]{2,}[,;:]? [A-Za-z]{2,}/.test(text));

// Each text node and each hint or name for those who do not see, one by one, of what a Chinese reader can come to.
const textsOf = (page: any, selector: string): Promise<string[]> => page.evaluate((where: string) => {
  const quoted = 'code, pre, cite, .katex, option, style, script, template, [lang|="en"]';
  const found: string[] = [];
  for (const root of document.querySelectorAll(where)) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node: Node | null = root; node; node = walker.nextNode()) {
      const element = node instanceof Element ? node : node.parentElement!;
      if (element.closest(quoted)) continue;
      if (node instanceof Element) found.push(...['aria-label', 'title', 'placeholder', 'data-label'].map((name) => element.getAttribute(name) ?? ''));
      else found.push(node.textContent!);
    }
  }
  return found;
}, selector);

test('in no figure, with its numbers and all its knobs', async () => {
  const { page } = await visit({ search: '?lang=zh' });
  await everyFigureDrawn(page);
  const texts = await textsOf(page, '[data-figure]');
  expect(texts.length).toBeGreaterThan(5000);
  expect(sentences(texts)).toEqual([]);
}, 480_000); // a busy machine is slow, not wrong

test('in no ledger of a named model, and of a configuration only where it is quoted as code', async () => {
  const { page } = await visit({ search: '?lang=zh' });
  await page.locator('#ledger').scrollIntoViewIfNeeded();
  await page.locator('#ledger .figure-summary table').first().waitFor();
  for (const { name } of catalogue.ledgerModels) {
    await page.locator('#ledger select').first().selectOption({ label: name });
    await page.waitForFunction((model: string) => document.querySelector('#ledger .figure-summary caption')?.textContent!.startsWith(`${model}，`), name);
    expect(sentences(await textsOf(page, '#ledger')), name).toEqual([]);
  }
  expect(await page.locator('#ledger .figure-summary').innerText()).toMatch(/完整注意力：每个查询头/);
  const choose = (text: string) => page.locator('#ledger input[type="file"]').setInputFiles({ name: 'mine.json', mimeType: 'application/json', buffer: Buffer.from(text) });
  await choose('{"model_type":"gemma2","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2}');
  await page.getByText('layer_types：每 2 层中的最后一层用完整注意力').waitFor();
  expect(sentences(await textsOf(page, '#ledger'))).toEqual([]);
  await choose('{"model_type":"perceiver"}');
  await page.locator('#ledger .figure-status code').getByText('model_type perceiver is not one of').waitFor();
  await choose('');
  await page.getByText('这幅图未能算出：mine.json 是空的').waitFor();
  expect(sentences(await textsOf(page, '#ledger .figure-status'))).toEqual([]);
}, 480_000); // a busy machine is slow, not wrong

test('in no statement, opened or not, and its checks, inputs and sources are in sight', async () => {
  const { page } = await visit({ search: '?lang=zh', until: 'computed' });
  await page.evaluate(() => document.querySelectorAll<HTMLElement>('.claim .open').forEach((button) => button.click()));
  await page.waitForFunction((count: number) => document.querySelectorAll('.claim-details .checks').length === count, catalogue.claims.length);
  expect(sentences(await textsOf(page, '.claims'))).toEqual([]);
  expect(await page.locator('.checks .quantity').evaluateAll((all: Element[]) => all.filter((one) => !one.checkVisibility() || one.textContent === '').length)).toBe(0);
  expect(await page.locator('.claim-details cite').evaluateAll((all: Element[]) => all.filter((one) => !one.checkVisibility()).length)).toBe(0);
  expect(await page.locator('#LM07-details').innerText()).toContain('输出 7 的移动');
  await page.locator('[data-language="en"]').click();
  await page.getByText('output 7 moves by').waitFor();
});
