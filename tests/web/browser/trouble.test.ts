// Servers and browsers that get in the way: the page works all the same, or says in a sentence how to help.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { policy } from '../../../web/prerender/content_security_policy.ts';
import { buildId } from '../../../web/prerender/wasm_modules.ts';
import { allComputed, isWasm, states, textOf, useBrowser, visit } from './session.ts';

useBrowser();

// The first claims run by themselves.
const holds = async (page: any) => expect(new Set(Object.values(await states(page)))).toEqual(new Set(['pass', 'waiting']));
const refuseWorkers = () => { window.Worker = class { constructor() { throw new DOMException('no', 'SecurityError'); } } as any; };
function withoutSimd() {
  const validate = WebAssembly.validate.bind(WebAssembly);
  WebAssembly.validate = (bytes) => bytes.byteLength > 100 && validate(bytes);
}
const onlyWasm = (planted: object) => (path: string) => (isWasm(path) ? planted : undefined);

test.each([
  ['a module that is not there', { status: 404, body: 'gone' }, 'en', /^The module did not arrive: the server answered 404 for \S+\.wasm\. /],
  ['a module that is not there', { status: 404, body: 'gone' }, 'zh', /^模块没有送达：服务器对 \S+\.wasm 的回答是 404。/],
  ['a page in place of the module', { headers: { 'content-type': 'text/html' }, body: '<!doctype html>' }, 'en', /^What arrived from \S+\.wasm is not a WebAssembly module\. /],
  ['a page in place of the module', { headers: { 'content-type': 'text/html' }, body: '<!doctype html>' }, 'zh', /^从 \S+\.wasm 收到的不是 WebAssembly 模块。/],
  ['a module cut short', { body: Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 40]) }, 'en', /^The module arrived, but this browser cannot read it\. /],
])('%s (%o) is told in %s', async (_, planted, language, sentence) => {
  const { page } = await visit({ search: `?lang=${language}`, answer: onlyWasm(planted), until: 'settled' });
  expect(await textOf(page, '.summary')).toMatch(sentence);
  expect(await page.locator('.status').getAttribute('data-state')).toBe('stopped');
  expect(await textOf(page, '#LM01 .words')).not.toBe('');
});

test('a failure is told again in the other language', async () => {
  const { page } = await visit({ answer: onlyWasm({ status: 503, body: '' }), until: 'settled' });
  await page.getByRole('link', { name: '中文' }).click();
  await page.waitForFunction(() => document.querySelector('.summary')!.textContent!.startsWith('模块没有送达'));
});

test('what the engine says of a failure stands in a Chinese sentence as a quotation', async () => {
  const empty = { body: Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]) }; // a module, but not ours
  const { page } = await visit({ search: '?lang=zh', answer: onlyWasm(empty), until: 'settled' });
  expect(await textOf(page, '.summary')).toMatch(/^模块已经送达，但没能启动。.*浏览器的原话：\S/);
  const quoted = await textOf(page, '.summary code[lang="en"]');
  expect((await textOf(page, '.summary')).replace(quoted, '')).not.toMatch(/[A-Za-z]{2}/);
});

test.each([
  ['en', /^stopped\s+not computed: The module did not arrive: the server answered 404 for \S+\.wasm\. /],
  ['zh', /^中止\s+未能计算：模块没有送达：服务器对 \S+\.wasm 的回答是 404。/],
])('a part of the module that is not there is told at each statement it has (%s)', async (language, sentence) => {
  const arrived = new Set<string>();
  const firstOnly = (path: string) => {
    if (!isWasm(path) || arrived.has(path)) return undefined;
    return arrived.size > 0 ? { status: 404, body: 'gone' } : void arrived.add(path);
  };
  const { page } = await visit({ search: `?lang=${language}`, answer: firstOnly });
  await allComputed(page);
  expect((await states(page)).LM01).toBe('pass');
  expect((await states(page)).AM02).toBe('stopped');
  expect(await textOf(page, '#AM02 .verdict')).toMatch(sentence);
});

test('parts of different builds are told apart', async () => {
  const { page } = await visit({
    until: 'settled',
    answer: (path) => {
      if (!path.endsWith('.js')) return undefined;
      const file = `${import.meta.dirname}/../../../web/dist${path}`;
      return { body: readFileSync(file, 'utf8').replaceAll(buildId('simd'), 'yesterday'), headers: { 'content-type': 'text/javascript' } };
    },
  });
  expect(await textOf(page, '.summary')).toBe(
    `The parts of this page come from different builds (yesterday and ${buildId('simd')}). Reload without the cache, usually with Ctrl+Shift+R.`);
});

test('a policy without wasm-unsafe-eval is named', async () => {
  const header = { 'content-security-policy': policy.replace(" 'wasm-unsafe-eval'", '') };
  const { page } = await visit({ until: 'settled', answer: (path) => (isWasm(path) ? undefined : { headers: header }) });
  expect(await textOf(page, '.summary')).toContain("needs 'wasm-unsafe-eval' in script-src");
});

test('isolation headers change nothing', async () => {
  const headers = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
  await holds((await visit({ answer: () => ({ headers }) })).page);
});

test.each([
  ['it may not compile', (path: string) => (/worker/.test(path) ? { headers: { 'content-security-policy': "script-src 'self'" } } : undefined), undefined],
  ['the browser refuses it', undefined, (page: any) => page.addInitScript(refuseWorkers)],
])('without a worker (%s) the module runs in the page', async (_, answer, prepare) => {
  const start = performance.now();
  const { page } = await visit({ answer, prepare });
  await holds(page);
  expect(await textOf(page, '.engine')).toContain('running in the page itself');
  expect(performance.now() - start).toBeLessThan(12_000); // noticed, not waited for: the loader's patience is 15 s
});

test.each([
  ['simd=off in the address', '?simd=off', undefined],
  ['a browser without SIMD', '', async (page: any) => {
    await page.addInitScript(refuseWorkers); // what a script sets, a worker does not have
    await page.addInitScript(withoutSimd);
  }],
])('%s gets the scalar module', async (_, search, prepare) => {
  const { page, site } = await visit({ search, prepare });
  await holds(page);
  expect(await textOf(page, '.engine')).toContain('WebAssembly without SIMD');
  expect(site.log.filter(({ path }) => isWasm(path))).toHaveLength(1);
});
test('a browser without WebAssembly is told so', async () => {
  const { page } = await visit({ until: 'settled', prepare: (fresh) => fresh.addInitScript(() => { delete (globalThis as any).WebAssembly; }) });
  expect(await textOf(page, '.summary')).toMatch(/^This browser has no WebAssembly/);
});

test('a page script that does not arrive is noticed', async () => {
  const { page } = await visit({ until: 'loaded', answer: (path) => (/assets\/index-.*\.js$/.test(path) ? { status: 404, body: 'gone' } : undefined) });
  await page.locator('.trouble-script').waitFor({ state: 'visible' });
});
