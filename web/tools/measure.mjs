// The page's acceptance list in figures: node tools/measure.mjs [--runs N] [--quick]. Sizes are brotli's at its best level, as a host with compressed
// files sends them. Times are from navigation to the first verdict, in Chromium, with an empty cache each time; the median of the runs. Slow is
// 1.6 Mbit/s, 150 ms, and a page thread slowed four times. --quick leaves out memory, which takes a minute.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { launch, openPage, siteFolder } from '../../tests/web/browser.mjs';
import { memoryGrowth } from './memory.mjs';
import { serve } from './serve.mjs';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '7' }, quick: { type: 'boolean', default: false } } });
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs is ${values.runs}, must be a whole number of at least 1`);

function watch() {
  const seen = { shift: 0 };
  Object.assign(window, { measured: seen });
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) seen.shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });
  const look = () => {
    if (seen.first || !document.querySelector('[data-claim][data-state="pass"], [data-claim][data-state="fail"]')) return;
    seen.first = performance.now();
    console.info('first claim');
  };
  document.addEventListener('DOMContentLoaded', () =>
    new MutationObserver(look).observe(document.body, { subtree: true, attributeFilter: ['data-state'] }));
}

async function slowDown(page) {
  const line = await page.context().newCDPSession(page);
  await line.send('Network.enable');
  await line.send('Network.emulateNetworkConditions', { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 1.6e6 / 8 });
  await line.send('Emulation.setCPUThrottlingRate', { rate: 4 });
}

// Waits for a word of the page: the script with which playwright waits for a condition would take 40 ms of the page's thread.
async function oneRun(browser, site, { slow = false } = {}) {
  const before = site.log.length;
  let answered;
  const { page, close } = await openPage(browser, site.address, { prepare: async (fresh) => {
    answered = fresh.waitForEvent('console', (message) => message.text() === 'first claim');
    await fresh.addInitScript(watch);
    if (slow) await slowDown(fresh);
  } });
  await answered;
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(slow ? 2500 : 700); // what else comes before the reader does anything
  const times = await page.evaluate(() => ({ ...window.measured, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime }));
  await close();
  return { ...times, paths: site.log.slice(before).map(({ path }) => path) };
}

async function embedRun(browser, site, figure) {
  const notes = await serve({ folder: siteFolder, answer: (path) => (path === '/notes.html' ? { headers: { 'content-type': 'text/html' },
    body: `<!doctype html><link rel="icon" href="data:,"><script src="${site.address}linear-mem.js"></script><linear-mem figure="${figure}"></linear-mem>` } : undefined) });
  const before = site.log.length;
  const { page, close } = await openPage(browser, `${notes.address}notes.html`);
  await page.waitForFunction(() => document.querySelector('linear-mem')?.shadowRoot?.querySelector('svg[role="img"]'));
  await close();
  await notes.close();
  return site.log.slice(before).map(({ path }) => path);
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const weigh = (path) => {
  const bytes = readFileSync(join(siteFolder, path === '/' ? 'index.html' : path));
  return path.endsWith('.woff2') ? bytes.length : brotliCompressSync(bytes).length;
};
const line = (value, unit, what, aim) => console.log(`${value.padStart(9)} ${unit.padEnd(3)} ${what}${aim ? ` (aim: ${aim})` : ''}`);
const kilobytes = (bytes) => (bytes / 1000).toFixed(1);

function list(paths, what, aim) {
  const parts = [...new Set(paths)].map((path) => [path, weigh(path)]).sort((a, b) => b[1] - a[1]);
  line(kilobytes(parts.reduce((sum, [, size]) => sum + size, 0)), 'kB', what, aim);
  for (const [path, size] of parts) console.log(`            ${kilobytes(size).padStart(7)}  ${path}`);
}

const site = await serve({ folder: siteFolder, answer: (path) => (path.endsWith('.html') || path === '/' ? undefined : { headers: { 'access-control-allow-origin': '*' } }) });
const browser = await launch();
await oneRun(browser, site); // compresses, and starts the browser's processes
const [here, slow] = [[], []];
for (let run = 0; run < runs; run += 1) here.push(await oneRun(browser, site));
for (let run = 0; run < Math.min(runs, 3); run += 1) slow.push(await oneRun(browser, site, { slow: true }));

list(here[0].paths, 'the site before the first interaction', 'at most 200 kB');
line(kilobytes(weigh(here[0].paths.find((path) => path.endsWith('.wasm')))), 'kB', 'the module it opens first', 'at most 80 kB');
list(await embedRun(browser, site, 'memory-tradeoff'), 'one embedded figure', 'at most 220 kB');
for (const [name, set, aim] of [['here', here, 'at most 600 ms'], ['slow', slow, 'at most 3000 ms']]) {
  line(median(set.map(({ paint }) => paint)).toFixed(0), 'ms', `first paint, ${name}`);
  line(median(set.map(({ first }) => first)).toFixed(0), 'ms', `first verified claim, ${name}, median of ${set.length}`, aim);
  line(Math.max(...set.map(({ shift }) => shift)).toFixed(4), '', `layout shift, ${name}, the largest`, 'at most 0.02');
}
if (!values.quick) {
  const grown = await memoryGrowth(site.address, { changes: 500, reloads: 20 });
  line(grown.changes.toFixed(1), '%', 'memory after 500 changes of knobs', 'below 10 %');
  line(grown.reloads.toFixed(1), '%', 'memory after 20 reloads', 'below 10 %');
}
await browser.close();
await site.close();
