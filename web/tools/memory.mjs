// How much the page's memory grows by use: what its scripts and documents hold after a garbage collection, and what the processes that run pages
// have of their own, modules and workers with it. Growth in per cent, from a page that is warm.
import { existsSync, readFileSync } from 'node:fs';
import { drawn, openPage } from '../../tests/web/browser.mjs';

const figure = 'memory-tradeoff';

// Private memory of the processes that run pages, in KiB; 0 where the system does not tell.
async function processes(browser) {
  const line = await browser.newBrowserCDPSession();
  const { processInfo } = await line.send('SystemInfo.getProcessInfo');
  await line.detach();
  const files = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => `/proc/${id}/smaps_rollup`);
  return files.filter(existsSync).map((file) => Number(/^Pss_Anon:\s+(\d+)/m.exec(readFileSync(file, 'utf8'))[1])).reduce((sum, size) => sum + size, 0);
}

async function held(browser, page, line) {
  await page.waitForTimeout(300);
  await line.send('HeapProfiler.collectGarbage');
  await line.send('HeapProfiler.collectGarbage');
  const { metrics } = await line.send('Performance.getMetrics');
  const of = (name) => metrics.find((metric) => metric.name === name).value;
  return { scripts: of('JSHeapUsedSize'), nodes: of('Nodes'), listeners: of('JSEventListeners'), workers: page.workers().length, processes: await processes(browser) };
}

// Runs in the page: turns the knobs of the figure, each to another place, and waits for the drawing every time.
async function turn({ name, from, count }) {
  const host = document.querySelector(`[data-figure="${name}"]`);
  for (let step = from; step < from + count; step += 1) {
    const sliders = [...host.querySelectorAll('.knobs > .knob input[type="range"]')];
    const slider = sliders[step % sliders.length];
    const before = host.querySelector('.panels').firstChild;
    slider.valueAsNumber = Number(slider.min) + (Number(slider.max) - Number(slider.min)) * (((step * 37) % 100) / 100);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    slider.dispatchEvent(new Event('change', { bubbles: true }));
    const end = performance.now() + 1000; // a value that was there already draws the same anew
    while (host.querySelector('.panels').firstChild === before && performance.now() < end) await new Promise((next) => setTimeout(next, 1));
  }
}

const growth = (before, after) => Math.max(...Object.keys(before).filter((key) => before[key] > 0).map((key) => (after[key] / before[key] - 1) * 100));

export async function memoryGrowth(browser, address, { changes, reloads, warm = 60 }) {
  const { page, close } = await openPage(browser, address);
  const line = await page.context().newCDPSession(page);
  await line.send('Performance.enable');
  await drawn(page, figure);
  await page.evaluate(turn, { name: figure, from: 0, count: warm });
  const beforeChanges = await held(browser, page, line);
  await page.evaluate(turn, { name: figure, from: warm, count: changes });
  const afterChanges = await held(browser, page, line);
  const reload = async () => {
    await page.reload();
    await drawn(page, figure);
  };
  await reload();
  await reload();
  const beforeReloads = await held(browser, page, line);
  for (let round = 0; round < reloads; round += 1) await reload();
  const afterReloads = await held(browser, page, line);
  await close();
  return { changes: growth(beforeChanges, afterChanges), reloads: growth(beforeReloads, afterReloads), seen: { beforeChanges, afterChanges, beforeReloads, afterReloads } };
}
