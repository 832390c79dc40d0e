// The memory ledger: a model by name, a config.json chosen by mouse, keyboard and touch or dropped; what is wrong with a file is said.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { require } from '../browser.mjs';
import { siteFolder, textOf, useBrowser, visit } from './session.ts';

useBrowser();

const hybrid = JSON.stringify({
  model_type: 'qwen3_next', hidden_size: 1024, num_hidden_layers: 8, num_attention_heads: 8, num_key_value_heads: 1, head_dim: 256,
  linear_num_key_heads: 8, linear_num_value_heads: 16, linear_key_head_dim: 128, linear_value_head_dim: 128, linear_conv_kernel_dim: 4,
}).replace('}', ',"time_step_limit":[0.0,Infinity]}');

const caption = '#ledger .figure-summary caption';

async function come(page: any): Promise<void> {
  await page.locator('#ledger').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector('#ledger svg[role="img"]') !== null
    && document.querySelector('#ledger .figure-status')!.textContent === '');
}

const until = (page: any, start: string) => page.waitForFunction(([selector, words]: string[]) =>
  document.querySelector(selector!)?.textContent?.startsWith(words!), [caption, start]);
const troubled = (page: any) => page.waitForFunction(() => document.querySelector('#ledger .figure-status')!.textContent !== '');
const file = (name: string, text: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
const choose = (page: any, name: string, text: string) => page.locator('#ledger input[type="file"]').setInputFiles(file(name, text));
const cells = (page: any, row: number): Promise<string[]> => page.locator('#ledger .figure-summary table').first().locator('tbody tr').nth(row)
  .locator('th, td').allInnerTexts();
const command = (page: any) => textOf(page, '#ledger .figure-foot .command code');

// Parts of the page arrive while it is used: files that the site has for everyone, fetched without a word of the reader's.
function isFileOfTheSite(request: any, site: string): boolean {
  const { protocol, origin, pathname, search } = new URL(request.url());
  if (protocol === 'blob:') return true;
  return origin === new URL(site).origin && request.method() === 'GET' && request.postData() === null && search === '' && existsSync(join(siteFolder, pathname));
}

test('a named model: lines, marks, table, sentences, the address and back', async () => {
  const { page, complaints } = await visit({ search: '?ledger.context=262144' });
  await come(page);
  expect((await cells(page, 0)).map((text) => text.replace(/\s/g, ' '))).toEqual([
    expect.stringMatching(/^gated delta rule, layers 0-2, /), '36', '–', '–', '2 MiB', '–', '48 KiB', '73.69 MiB', '1048']);
  expect((await cells(page, 1)).map((text) => text.replace(/\s/g, ' '))).toEqual([
    'grouped-query attention, layers 3, 7, ..., 47', '12', '2 KiB', '512 MiB', '–', '–', '–', '6 GiB', '–']);
  const said = (await textOf(page, '#ledger .figure-summary')).replace(/[\s\u202f]/g, ' ');
  expect(said).toContain('13 requests fit in 80 GiB.');
  expect(said).toContain('Up to 1048 tokens, full attention in every layer would take no more');
  expect(await page.locator('#ledger svg.curves').count()).toBe(2);
  expect(await command(page)).toBe('linearmem ledger --model Qwen3-Next-80B-A3B --context 262144 --device-memory 80GiB');
  await page.locator('#ledger').getByRole('combobox', { name: 'Model' }).selectOption({ label: 'Jamba-v0.1' });
  await until(page, 'Jamba-v0.1, ');
  expect(new URL(page.url()).searchParams.get('ledger.model')).not.toBe(null);
  await page.locator('#ledger').getByRole('combobox', { name: 'States' }).selectOption({ label: '16 bits' });
  await page.waitForFunction(() => location.search.includes('ledger.state_bits=16'));
  await page.goBack();
  await page.goBack();
  await until(page, 'Qwen3-Next-80B-A3B, ');
  expect(complaints).toEqual([]);
});

test('the command line answers the same numbers', async () => {
  const program = process.env.LINEARMEM_COMMAND ?? resolve(import.meta.dirname, '../../../build/native/native/cli/linearmem');
  const { page } = await visit({ search: '?ledger.context=131072&ledger.kv_bits=8&ledger.batch=3&ledger.conv_columns=2&ledger.block=16' });
  await come(page);
  const words = (await command(page)).split(' ').slice(1);
  const ledger = JSON.parse(execFileSync(program, [...words, '--json'], { encoding: 'utf8' }));
  const titles = await page.locator('#ledger .figure-summary table').first().locator('td[title]').evaluateAll((all: Element[]) => all.map((cell) => cell.getAttribute('title')));
  const kept = ledger.rows.flatMap((row: any) => [row.token_bytes, row.growing_bytes, row.state_bytes, row.normalizer_bytes, row.conv_bytes, row.request_bytes]);
  expect(titles).toEqual(kept.filter((bytes: number) => bytes > 0).map((bytes: number) => `${bytes} B`));
});

test('a file of one\'s own stays in the browser, and Reset lets go of it', async () => {
  const { page, complaints } = await visit();
  await come(page);
  const sent: string[] = [];
  page.on('request', (request: any) => { if (!isFileOfTheSite(request, page.url())) sent.push(`${request.method()} ${request.url()}`); });
  await choose(page, 'my config.json', hybrid);
  await until(page, 'my config.json, ');
  expect((await cells(page, 0))[4]!.replace(/\s/g, ' ')).toBe('1 MiB');
  expect(await textOf(page, '#ledger .figure-summary')).toContain('layer_types: of every 4 layers the last has full attention');
  expect(await command(page)).toBe('linearmem ledger \'my config.json\' --device-memory 80GiB');
  expect(await page.locator('#ledger').getByRole('combobox', { name: 'Model' }).locator('option:checked').innerText()).toBe('Your file: my config.json');
  expect(sent).toEqual([]);
  await page.locator('#ledger').getByRole('button', { name: 'Reset' }).click();
  await until(page, 'Qwen3-Next-80B-A3B, ');
  expect(complaints).toEqual([]);
});

test('a dropped file is read as a chosen one', async () => {
  const { page, complaints } = await visit();
  await come(page);
  const carried = await page.evaluateHandle((text: string) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], 'dropped.json', { type: 'application/json' }));
    return transfer;
  }, hybrid);
  await page.dispatchEvent('#ledger .file-drop', 'dragover', { dataTransfer: carried });
  expect(await page.locator('#ledger .file-drop[data-over]').count()).toBe(1);
  await page.dispatchEvent('#ledger .file-drop', 'drop', { dataTransfer: carried });
  await until(page, 'dropped.json, ');
  expect(await page.locator('#ledger .file-drop[data-over]').count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('keyboard and touch open the choice of a file', async () => {
  const { page } = await visit({ browser: { viewport: { width: 360, height: 740 }, hasTouch: true } });
  page.on('filechooser', () => undefined); // choosers are caught from here on, not only once one is waited for
  await come(page);
  await page.locator('#ledger input[type="file"]').focus();
  const [byKey] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
  await byKey.setFiles(file('by-key.json', hybrid));
  await until(page, 'by-key.json, ');
  const [byTouch] = await Promise.all([page.waitForEvent('filechooser'), page.locator('#ledger .file-drop').tap()]);
  await byTouch.setFiles(file('by-touch.json', hybrid));
  await until(page, 'by-touch.json, ');
});

const bad: [string, string, string][] = [
  ['not JSON', '{"a":1,}', 'config: offset 7: an object\'s name is a text'],
  ['empty', '', 'bad.json is empty'],
  ['unknown', '{"model_type":"perceiver"}', 'config: model_type perceiver is not one of llama, '],
  ['missing', '{"model_type":"llama"}', 'config: model_type llama: num_hidden_layers, num_attention_heads, hidden_size are missing, '],
  ['absurd', hybrid.replace('"num_hidden_layers":8', '"num_hidden_layers":1000000000'), 'config: model_type qwen3_next: num_hidden_layers is 1000000000, '],
  ['nested', '['.repeat(4 << 20), 'config: offset 32: nested more than 32 deep'],
  ['10 MB', '['.repeat(10 << 20), 'bad.json has 10\u202fMiB; a configuration of at most 4\u202fMiB is read'],
  ['markup', '{"model_type":"<img src=x onerror=alert(1)>"}', 'config: model_type <img src=x onerror=alert(1)> is not one of '],
];

test('a bad file is refused in a sentence, and the next good one is read', async () => {
  const { page, complaints } = await visit();
  await come(page);
  for (const [name, text, words] of bad) {
    await choose(page, 'bad.json', text);
    await troubled(page);
    expect(await textOf(page, '#ledger .figure-status'), name).toContain(`The figure could not be computed: ${words}`);
    await choose(page, `after ${name}.json`, hybrid);
    await until(page, `after ${name}.json, `);
    expect(await textOf(page, '#ledger .figure-status'), name).toBe('');
  }
  expect(complaints).toEqual([]);
});

test.each(['en', 'zh'])('every model has its words; nothing scrolls sideways at 360 pixels, and axe finds nothing to mend (%s)', async (language) => {
  const { page, complaints } = await visit({ search: `?lang=${language}`, browser: { viewport: { width: 360, height: 740 }, hasTouch: true, bypassCSP: true } });
  await come(page);
  const model = page.locator('#ledger select').first();
  const names = await model.locator('option').allInnerTexts();
  expect(names.length).toBeGreaterThan(25);
  for (const label of names) {
    await model.selectOption({ label });
    await until(page, label);
    const words = await textOf(page, '#ledger .figure-summary') + (await page.locator('#ledger svg').allTextContents()).join();
    expect(words, label).not.toMatch(/NaN|undefined|[{}]/);
  }
  await page.evaluate(() => document.querySelectorAll<HTMLDetailsElement>('.more-knobs').forEach((fold) => { fold.open = true; }));
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.addScriptTag({ content: readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8') });
  const { violations } = await page.evaluate(() => (window as any).axe.run({ include: [['#ledger']] }));
  expect(violations.map(({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html.slice(0, 200)).join(' | ')}`)).toEqual([]);
  expect(complaints).toEqual([]);
});
