// The claims in a real browser: they run by themselves, hold, fall by each mistake, and can be opened, linked and repeated.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { claims } from '../../../web/src/texts/en/claims.ts';
import { mistakes } from '../../../web/src/texts/en/mistakes.ts';
import { allComputed, isWasm, settled, siteFolder, states, textOf, useBrowser, visit } from './session.ts';

useBrowser();

const total = Object.keys(claims).length;

const falling = async (page: any) => Object.entries(await states(page)).filter(([, state]) => state === 'fail' || state === 'stopped').map(([id]) => id);

test('all claims run when they are asked for and hold, with nothing in the console', async () => {
  const { page, complaints } = await visit({ until: 'computed' });
  const all = await states(page);
  expect(Object.keys(all).sort()).toEqual(Object.keys(claims).sort());
  expect(new Set(Object.values(all))).toEqual(new Set(['pass']));
  expect(await textOf(page, '.summary')).toMatch(new RegExp(`^All ${total} statements hold\\. Computed in this browser in `));
  expect(await textOf(page, '.engine')).toMatch(/for WebAssembly SIMD, running in a worker\.$/);
  for (const cell of ['expected', 'computed', 'error', 'tolerance', 'time', 'verdict']) {
    const texts: string[] = await page.locator(`.claims tbody .${cell} .value`).allInnerTexts();
    expect(texts.filter((text) => text.trim() === ''), cell).toEqual([]);
  }
  expect(await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content')).toContain("default-src 'none'");
  expect(complaints).toEqual([]);
});

test('the first claims run by themselves, the others when they come near, and each part of the module is fetched only then', async () => {
  const { page, site } = await visit();
  const open = () => site.log.filter(({ path }) => isWasm(path)).map(({ path }) => /linearmem-(\w+)-/.exec(path)![1]);
  const computed = async () => Object.entries(await states(page)).filter(([, state]) => state === 'pass').map(([id]) => id);
  const early = await computed();
  expect(early.length).toBeGreaterThan(0);
  expect(early.length).toBeLessThan(total / 2);
  expect(open()).toEqual(['ledger']);
  expect(await textOf(page, '.summary')).toMatch(new RegExp(`^Statements that hold so far: ${early.length}, .* The other ${total - early.length} `));
  await page.locator('#RM08').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector<HTMLElement>('#RM08')!.dataset.state === 'pass');
  expect(open()).toContain('recall');
  expect(open()).not.toContain('timing');
});

test('every mistake fells a claim, says which and why, and mending restores', async () => {
  const { page, complaints } = await visit({ until: 'computed' });
  const names: string[] = await page.locator('[data-mistake]').evaluateAll((items: HTMLElement[]) => items.map((item) => item.dataset.mistake));
  expect(names).toEqual(Object.keys(mistakes));
  for (const name of names) {
    await page.locator(`[data-mistake="${name}"] label`).click();
    await settled(page);
    const fallen = await falling(page);
    expect(fallen.length, name).toBeGreaterThan(0);
    expect(await page.locator('.fallen a').allInnerTexts()).toEqual(fallen);
    expect(await textOf(page, '.fallen li')).toMatch(/expected .+, computed .+: (differ by|.* is not)/);
    expect((await textOf(page, `[data-mistake="${name}"] .why`)).length).toBeGreaterThan(20);
    expect(new URL(page.url()).searchParams.get('break')).toBe(name);
    await page.locator('.mend').click();
    await settled(page);
    expect(await falling(page), name).toEqual([]);
    expect(new URL(page.url()).search).toBe('');
  }
  expect(await textOf(page, '.break-summary')).toBe('No mistake is on. Every statement is computed as written.');
  expect(complaints).toEqual([]);
});

test('the address switches mistakes on, and the back button off again', async () => {
  const { page } = await visit({ search: '?break=half-beta,nonsense' });
  expect(await falling(page)).toEqual(['LM08', 'LM09']);
  expect(await page.locator('[data-mistake="half-beta"] input').isChecked()).toBe(true);
  await page.locator('[data-mistake="no-reset"] label').click();
  await settled(page);
  expect(await falling(page)).toEqual(['LM08', 'LM09', 'LM21', 'RM09']);
  expect(await textOf(page, '.break-command code')).toBe('linearmem verify --mistake half-beta --mistake no-reset');
  await page.goBack();
  await page.waitForFunction(() => document.querySelector<HTMLElement>('#LM21')!.dataset.state === 'pass');
  await settled(page); // RM09 follows LM21
  expect(await falling(page)).toEqual(['LM08', 'LM09']);
});

test('a row opens to inputs, source and a command that can be copied', async () => {
  const { page } = await visit({ browser: { permissions: ['clipboard-read', 'clipboard-write'] } });
  const opener = page.locator('#LM05 .open');
  await opener.focus();
  await page.keyboard.press('Enter');
  await page.locator('#LM05-details .checks').waitFor(); // it is computed when it is opened
  expect(await opener.getAttribute('aria-expanded')).toBe('true');
  const text = await textOf(page, '#LM05-details');
  expect(text).toContain('rng = default_rng(7)');
  expect(text).toContain('Katharopoulos');
  expect(text).toMatch(/expected -1\.088998885679583, computed -1\.08899888567958/);
  await page.locator('#LM05-details .command button').click();
  await page.waitForFunction(() => document.querySelector('#LM05-details .command button')!.textContent === 'Copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('linearmem verify LM05');
  await opener.click();
  expect(await page.locator('#LM05-details').count()).toBe(0);
});

test('one claim can be computed again, and all of them', async () => {
  const { page } = await visit({ search: '#LM03' });
  await page.locator('#LM03-details').waitFor();
  await page.waitForFunction(() => document.querySelector<HTMLElement>('#LM03')!.dataset.state === 'pass');
  const seen = () => page.evaluate(() => {
    const heard: string[] = [];
    new MutationObserver((changes) => heard.push(...changes.filter(({ oldValue }) => oldValue === 'running').map(({ target }) => (target as Element).id)))
      .observe(document.querySelector('.claims')!, { subtree: true, attributeFilter: ['data-state'], attributeOldValue: true });
    Object.assign(window, { heard });
  });
  await seen();
  await page.locator('#LM03-details .buttons button').first().click();
  await page.waitForFunction(() => (window as any).heard.includes('LM03'));
  await allComputed(page);
  const heard: string[] = await page.evaluate(() => (window as any).heard);
  expect(new Set(heard)).toEqual(new Set(Object.keys(claims)));
  expect(heard.filter((id) => id === 'LM03').length).toBeGreaterThan(1);
  expect(await falling(page)).toEqual([]);
});

test('a switch turns by keyboard and is announced as a switch', async () => {
  const { page } = await visit();
  const box = page.getByRole('switch', { name: 'No reset between requests' });
  await box.focus();
  await page.keyboard.press('Space');
  await settled(page);
  expect(await box.isChecked()).toBe(true);
  expect(await falling(page)).toEqual(['LM21', 'RM09']);
});

test('what the module has and the page has no words for is shown in the module\'s own, and the other way round not at all', async () => {
  const html = readFileSync(`${siteFolder}/index.html`, 'utf8');
  const unworded = html.replace(/<tr role="row" class="claim"[^>]* id="LM24"[^]*?<\/tr>/, '').replace(/<li class="mistake" data-mistake="no-reset"[^]*?<\/li>/, '')
    .replaceAll('id="LM23"', 'id="LM99"').replaceAll('data-claim="LM23"', 'data-claim="LM99"');
  const { page, complaints } = await visit({
    answer: (path) => (path === '/' ? { body: unworded, headers: { 'content-type': 'text/html; charset=utf-8' } } : undefined),
  });
  await allComputed(page);
  expect(await states(page)).toMatchObject({ LM23: 'pass', LM24: 'pass' });
  expect(Object.keys(await states(page))).not.toContain('LM99');
  expect(await textOf(page, '#LM24 .words')).toContain('Padding');
  expect(await textOf(page, '#LM24 .open')).toBe('LM24');
  await page.getByRole('switch', { name: 'no-reset' }).check({ force: true });
  await settled(page);
  expect(await falling(page)).toEqual(['LM21', 'RM09']);
  expect(complaints).toEqual([]);
});
