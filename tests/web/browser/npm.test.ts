// The npm package as outside projects use it: packed, unpacked elsewhere, imported by a Node program, checked by the compiler, bundled by Vite.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { catalogue } from 'virtual:linearmem/catalogue';
import { packNpm } from '../../../web/tools/pack_npm.mjs';
import { require, webFolder } from '../browser.mjs';
import { useBrowser, visitFolder } from './session.ts';

useBrowser();

const outside = mkdtempSync(join(tmpdir(), 'linearmem-outside-'));
const write = (name: string, text: string) => writeFileSync(join(outside, name), text);
const run = (program: string, ...words: string[]) => execFileSync(program, words, { cwd: outside, encoding: 'utf8' });

beforeAll(async () => {
  const archive = await packNpm();
  mkdirSync(join(outside, 'node_modules/linearmem'), { recursive: true });
  run('tar', 'xzf', archive, '-C', 'node_modules/linearmem', '--strip-components=1');
  write('package.json', '{"type":"module","private":true}');
});
afterAll(() => rmSync(outside, { recursive: true, force: true }));

test('a Node program opens the module, with SIMD and without, and verifies every claim', () => {
  write('program.js', `
    import { openLinearMem } from 'linearmem';
    const answers = {};
    for (const simd of ['auto', 'off']) {
      const module = await openLinearMem({ simd });
      answers[module.target()] = module.claims().filter(({ id }) => module.verify(id, []).pass).length;
    }
    const refused = await openLinearMem({ simd: 'maybe' }).catch(({ message }) => message);
    console.log(JSON.stringify({ answers, refused }));`);
  const { answers, refused } = JSON.parse(run(process.execPath, 'program.js'));
  expect(answers).toEqual({ WASM: catalogue.claims.length, SCALAR: catalogue.claims.length });
  expect(refused).toBe("openLinearMem: simd is maybe, must be 'auto' or 'off'");
});

test('the module runs where code may not be made from strings', () => {
  write('strict.js', `import { openLinearMem } from 'linearmem'; console.log((await openLinearMem()).verify('LM08', []).pass);`);
  expect(run(process.execPath, '--disallow-code-generation-from-strings', 'strict.js').trim()).toBe('true');
});

test('the types are those of the module', () => {
  write('typed.ts', `import { openLinearMem, type ClaimResult } from 'linearmem';
    const result: ClaimResult = (await openLinearMem({ simd: 'off' })).verify('LM08', ['half-beta']);
    // @ts-expect-error: no such option
    await openLinearMem({ simd: 'maybe' });
    export const pass: boolean = result.pass;`);
  const compiler = require.resolve('typescript/package.json').replace(/package\.json$/, 'bin/tsc');
  run(process.execPath, compiler, '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck', 'false', '--types', '', 'typed.ts');
});

test('a Vite project bundles module and element, and both run from its build', async () => {
  write('index.html', '<!doctype html><link rel="icon" href="data:,"><title>outside</title><linear-mem figure="memory-tradeoff" lang="en"></linear-mem><script type="module" src="./main.js"></script>');
  write('main.js', `
    import 'linearmem/element';
    import { openLinearMem } from 'linearmem';
    const module = await openLinearMem();
    document.title = module.target() + ' ' + module.verify('LM08', []).pass;`);
  run(process.execPath, join(webFolder, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error', '--base', './');
  const { page, complaints, site } = await visitFolder(join(outside, 'dist'), { base: '/elsewhere/' });
  await page.waitForFunction(() => document.title === 'WASM true');
  await page.waitForFunction(() => document.querySelector('linear-mem')!.shadowRoot!.querySelector('svg[role="img"]'));
  expect(page.workers()).toHaveLength(1);
  expect(site.log.filter(({ status, path }) => status !== 200 || !path.startsWith('/elsewhere/'))).toEqual([]);
  expect(complaints).toEqual([]);
});
