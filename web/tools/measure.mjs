// What the page weighs and how soon it answers: node tools/measure.mjs [--runs N]. Sizes are brotli's at its best level, as a
// host with compressed files sends them. Times are from navigation to the first and the last verdict in the table, in
// Chromium, with an empty cache each time; the median of the runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { launch, openPage, drawn, siteFolder } from '../../tests/web/browser.mjs';
import { serve } from './serve.mjs';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '7' } } });
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs is ${values.runs}, must be a whole number of at least 1`);

function watchVerdicts() {
  const times = {};
  Object.assign(window, { verdictTimes: times });
  const look = () => {
    const rows = [...document.querySelectorAll('[data-claim]')];
    const done = rows.filter(({ dataset }) => ['pass', 'fail', 'stopped'].includes(dataset.state)).length;
    if (done > 0) times.first ??= performance.now();
    if (done > 0 && done === rows.length) times.last ??= performance.now();
  };
  document.addEventListener('DOMContentLoaded', () =>
    new MutationObserver(look).observe(document.querySelector('.claims'), { subtree: true, attributeFilter: ['data-state'] }));
}

async function oneRun(browser, site) {
  const before = site.log.length;
  const { page, close } = await openPage(browser, site.address, { prepare: (fresh) => fresh.addInitScript(watchVerdicts) });
  await drawn(page);
  await page.evaluate(() => document.fonts.ready);
  const times = await page.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, ...window.verdictTimes,
  }));
  await close();
  return { times, paths: site.log.slice(before).map(({ path }) => path) };
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const weigh = (path) => {
  const bytes = readFileSync(join(siteFolder, path === '/' ? 'index.html' : path));
  return path.endsWith('.woff2') ? bytes.length : brotliCompressSync(bytes).length;
};

const site = await serve({ folder: siteFolder });
const browser = await launch();
await oneRun(browser, site); // compresses, and starts the browser's processes
const results = [];
for (let run = 0; run < runs; run += 1) results.push(await oneRun(browser, site));
await browser.close();
await site.close();

const parts = [...new Set(results[0].paths)].map((path) => [path, weigh(path)]).sort((a, b) => b[1] - a[1]);
for (const [path, size] of parts) console.log(`${(size / 1000).toFixed(1).padStart(8)} kB  ${path}`);
console.log(`${(parts.reduce((sum, [, size]) => sum + size, 0) / 1000).toFixed(1).padStart(8)} kB  in all`);
for (const [name, key] of [['first paint', 'paint'], ['first verdict', 'first'], ['last verdict', 'last']]) {
  console.log(`${median(results.map(({ times }) => times[key])).toFixed(0).padStart(8)} ms  ${name}, median of ${runs}`);
}
