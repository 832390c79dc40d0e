// How much the page's memory grows by use: what its scripts and documents hold after a garbage collection, and what the process that runs the page
// has of its own, modules and worker with it. Growth in per cent, from a page that is warm. In a browser of its own: a process of another page,
// whose garbage nobody collects here, would be counted with this one's.
import { existsSync, readFileSync } from 'node:fs';
import { drawn, launch, openPage } from '../../tests/web/browser.mjs';

const figure = 'memory-tradeoff';
const readings = 5;

// Private memory in KiB of the process that runs the page, the largest there is; 0 where the system does not tell.
async function ofProcess(browser) {
  const line = await browser.newBrowserCDPSession();
  const { processInfo } = await line.send('SystemInfo.getProcessInfo');
  await line.detach();
  const files = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => `/proc/${id}/smaps_rollup`);
  return Math.max(0, ...files.filter(existsSync).map((file) => Number(/^Pss_Anon:\s+(\d+)/m.exec(readFileSync(file, 'utf8'))[1])));
}

// A worker's heap is one of its own, collected on a line of its own.
async function collectInWorkers(line) {
  const attached = [];
  const keep = ({ sessionId }) => attached.push(sessionId);
  line.on('Target.attachedToTarget', keep);
  await line.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  for (const sessionId of attached) {
    const answered = new Promise((resolve) => line.once('Target.receivedMessageFromTarget', resolve));
    await line.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }) });
    await answered;
  }
  await line.send('Target.setAutoAttach', { autoAttach: false, waitForDebuggerOnStart: false, flatten: false });
  line.off('Target.attachedToTarget', keep);
  return attached.length;
}

// What is freed returns to the system later and in parts: the least of some readings is what is held.
async function held(browser, page, line) {
  let process = Infinity;
  let workers = 0;
  for (let reading = 0; reading < readings; reading += 1) {
    await line.send('HeapProfiler.collectGarbage');
    workers = await collectInWorkers(line);
    await page.waitForTimeout(400);
    process = Math.min(process, await ofProcess(browser));
  }
  const { metrics } = await line.send('Performance.getMetrics');
  const of = (name) => metrics.find((metric) => metric.name === name).value;
  return { scripts: of('JSHeapUsedSize'), nodes: of('Nodes'), listeners: of('JSEventListeners'), workers, process };
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

// What leaks grows every time the page is used so; what an allocator happens to keep does not. So the same use is repeated while it seems to grow by
// `aim` per cent or more, three times at most, and the least growth counts.
async function leastGrowth(read, use, aim) {
  const seen = [await read()];
  let least = Infinity;
  while (least >= aim && seen.length <= 3) {
    await use(seen.length);
    seen.push(await read());
    least = Math.min(least, growth(seen.at(-2), seen.at(-1)));
  }
  return { least, seen };
}

async function growthIn(browser, address, { changes, reloads, warm, aim }) {
  const { page } = await openPage(browser, address);
  const line = await page.context().newCDPSession(page);
  await line.send('Performance.enable');
  const read = () => held(browser, page, line);
  const reload = async (times) => {
    for (let round = 0; round < times; round += 1) {
      await page.reload();
      await drawn(page, figure);
    }
  };
  await drawn(page, figure);
  await page.evaluate(turn, { name: figure, from: 0, count: warm });
  const byChanges = await leastGrowth(read, (round) => page.evaluate(turn, { name: figure, from: warm + round * changes, count: changes }), aim);
  await reload(2);
  const byReloads = await leastGrowth(read, () => reload(reloads), aim);
  return { changes: byChanges.least, reloads: byReloads.least, seen: { changes: byChanges.seen, reloads: byReloads.seen } };
}

export async function memoryGrowth(address, { changes, reloads, warm = 100, aim = 10 }) {
  const browser = await launch();
  try {
    return await growthIn(browser, address, { changes, reloads, warm, aim });
  } finally {
    await browser.close();
  }
}
