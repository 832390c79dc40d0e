// What must work in every engine: the page, the element on another origin, the iframe and the single file, whatever server and policy do.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { policy } from '../../../web/prerender/content_security_policy.ts';
import { serve } from '../../../web/tools/serve.mjs';
import { siteFolder } from '../browser.mjs';
import { engines } from '../engines/engines.mjs';

type Planted = { status?: number; headers?: Record<string, string>; body?: string } | undefined;

const open: { close(): Promise<unknown> }[] = [];

async function site(answer?: (path: string) => Planted, base?: string) {
  const started = await serve({ folder: siteFolder, answer, base });
  open.push(started);
  return started;
}

// A page of somebody else's, on an origin of its own.
async function host(body: string, headers: Record<string, string> = {}) {
  const html = `<!doctype html><meta charset="utf-8"><title>notes</title><body>${body}</body>`;
  return site((path) => (path === '/notes.html' ? { body: html, headers: { 'content-type': 'text/html; charset=utf-8', ...headers } } : undefined));
}

const crossOrigin = { headers: { 'access-control-allow-origin': '*' } };
const wasm = (path: string) => path.endsWith('.wasm');

const verified = () => ['pass', 'fail'].includes(document.querySelector<HTMLElement>('[data-ground]')?.dataset.state ?? '')
  && [...document.querySelectorAll<HTMLElement>('[data-claim]')].map(({ dataset }) => dataset.state).filter((state) => ['pass', 'fail', 'stopped'].includes(state ?? '')).join();
const engineLine = () => document.querySelector('.engine')!.textContent;
const figureIn = (name: string) => {
  const root = document.querySelector(`linear-mem[figure="${name}"]`)?.shadowRoot;
  return root?.querySelector('.panels svg[role="img"]')?.getAttribute('aria-label');
};

describe.each(Object.entries(engines))('%s', (_, start) => {
  let engine: any;
  beforeAll(async () => { engine = await start(); });
  afterAll(async () => { await engine?.close(); });
  afterEach(async () => { for (const one of open.splice(0).reverse()) await one.close(); });

  async function visit(address: string) {
    const page = await engine.open(address);
    open.push(page);
    return page;
  }

  test.each([
    [{ 'content-type': 'application/octet-stream' }],
    [{ 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' }],
    [{ 'content-type': 'text/html' }],
  ])('the module loads whatever its MIME type: %o', async (headers) => {
    const { address } = await site((path) => (wasm(path) ? { headers } : undefined));
    const page = await visit(address);
    expect(await page.until(verified)).toMatch(/^pass(,pass)*$/);
    expect(await page.evaluate(engineLine)).toMatch(/worker\.$/);
  });

  test('under a sub-path and the published policy as a header, nothing is missing and nothing refused', async () => {
    const reports: string[] = [];
    const { address, log } = await site((path) => {
      if (path === '/reports') reports.push(path);
      return { status: path === '/reports' ? 204 : undefined, headers: { 'content-security-policy': `${policy}; report-uri /reports` } };
    }, '/notes/memory/');
    const page = await visit(address);
    await page.until(verified);
    await page.evaluate(() => document.querySelector('[data-figure="memory-tradeoff"]')!.scrollIntoView());
    await page.until(() => document.querySelector('[data-figure="memory-tradeoff"] svg[role="img"]') !== null);
    expect(log.filter(({ path, status }) => (status !== 200 || !path.startsWith('/notes/memory/')) && path !== '/favicon.ico')).toEqual([]);
    expect(reports).toEqual([]);
  });

  test('without the worker\'s script the module runs in the page', async () => {
    const { address } = await site((path) => (/worker/.test(path) ? { status: 404, body: 'gone' } : undefined));
    const page = await visit(address);
    await page.until(verified);
    expect(await page.evaluate(engineLine)).toContain('running in the page itself');
  });

  test('the single file opens by a double click and computes, in a worker', async () => {
    const page = await visit(`file://${siteFolder}/linearmem.html?lang=en`);
    await page.until(verified);
    expect(await page.evaluate(engineLine)).toMatch(/WebAssembly SIMD, running in a worker\.$/);
    await page.evaluate(() => document.querySelector('[data-figure="memory-tradeoff"]')!.scrollIntoView());
    await page.until(() => document.querySelector('[data-figure="memory-tradeoff"] svg[role="img"]') !== null);
    expect(await page.evaluate(() => [...document.querySelectorAll<HTMLElement>('.trouble')].filter((one) => one.offsetHeight > 0).length)).toBe(0);
  });

  test('the site\'s own page, opened as a file, says what to do', async () => {
    const page = await visit(`file://${siteFolder}/index.html?lang=en`);
    const inSight = await page.evaluate(() => [...document.querySelectorAll<HTMLElement>('.trouble')].filter((one) => one.offsetHeight > 0).map((one) => one.innerText));
    expect(inSight).toEqual([expect.stringContaining('python3 -m http.server')]); // a hidden element has its innerText too
  });

  test('the element on another origin draws its figure, and answers its attributes', async () => {
    const { address } = await site((path) => (path.endsWith('.html') ? undefined : crossOrigin));
    const notes = await host(`<script src="${address}linear-mem.js" defer></script><linear-mem figure="memory-tradeoff" beta="0" lang="en">a picture</linear-mem>`);
    const page = await visit(`${notes.address}notes.html`);
    const label = await page.until(figureIn, 'memory-tradeoff');
    expect(label).toBeTruthy();
    const command = () => document.querySelector('linear-mem')!.shadowRoot!.querySelector('.figure-foot .command code')!.textContent;
    expect(await page.evaluate(command)).toBe('linearmem sweep memory-tradeoff --set beta=0 --csv');
    await page.evaluate(() => document.querySelector('linear-mem')!.setAttribute('key-width', '32'));
    expect(await page.evaluate(command)).toBe('linearmem sweep memory-tradeoff --set beta=0 --set key_width=32 --csv');
    await page.evaluate(() => document.querySelector('linear-mem')!.setAttribute('lang', 'zh'));
    await page.until(() => /复原/.test(document.querySelector('linear-mem')!.shadowRoot!.querySelector('.figure-foot')!.textContent!));
  });

  test('where blob workers are forbidden, the element computes in the page', async () => {
    const { address } = await site((path) => (path.endsWith('.html') ? undefined : crossOrigin));
    const { origin } = new URL(address);
    const headers = { 'content-security-policy': `default-src 'none'; script-src ${origin} 'wasm-unsafe-eval'; connect-src ${origin}; style-src 'self'; worker-src 'none'` };
    const notes = await host(`<script src="${address}linear-mem.js"></script><linear-mem figure="memory-tradeoff" lang="en"></linear-mem>`, headers);
    const page = await visit(`${notes.address}notes.html`);
    expect(await page.until(figureIn, 'memory-tradeoff')).toBeTruthy();
  });

  test('an iframe that may only run scripts draws its figure and takes its height', async () => {
    const { address } = await site(() => crossOrigin);
    const notes = await host(`<script src="${address}frames.js"></script><iframe sandbox="allow-scripts" title="figure" style="width:700px;height:150px;border:0" src="${address}embed.html?figure=memory-tradeoff&lang=zh"></iframe>`);
    const page = await visit(`${notes.address}notes.html`);
    const height: number = await page.until(() => {
      const { height: now } = document.querySelector('iframe')!.getBoundingClientRect();
      return now > 500 && now;
    });
    expect(height).toBeLessThan(3000);
  });
});
