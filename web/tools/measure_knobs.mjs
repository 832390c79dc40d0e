// How soon each figure answers a knob: node tools/measure_knobs.mjs [FIGURE...] [--steps N]. From the slider's event to the finished
// drawing, in Chromium, each knob that is in sight moved N times by a little; the median and the longest.
import { parseArgs } from 'node:util';
import { launch, openPage, everyFigureDrawn, siteFolder } from '../../tests/web/browser.mjs';
import { serve } from './serve.mjs';

const { values, positionals } = parseArgs({ options: { steps: { type: 'string', default: '7' } }, allowPositionals: true });
const steps = Number(values.steps);
if (!Number.isInteger(steps) || steps < 1) throw new Error(`--steps is ${values.steps}, must be a whole number of at least 1`);

// Runs in the page. The drawing is finished when the status is empty again and nothing has changed for a while.
async function turnKnob({ figure, knob, step }) {
  const host = document.querySelector(`[data-figure="${figure}"]`);
  const slider = host.querySelectorAll('.knobs > .knob input[type="range"]')[knob];
  const panels = host.querySelector('.panels');
  const status = host.querySelector('.figure-status');
  let last = 0;
  const observer = new MutationObserver(() => { last = performance.now(); });
  observer.observe(panels, { childList: true });
  const pitch = slider.step === 'any' ? (slider.max - slider.min) / 40 : Math.max(Number(slider.step), (slider.max - slider.min) / 40);
  const start = performance.now();
  const before = slider.valueAsNumber;
  slider.valueAsNumber = before + (step % 2 === 0 ? pitch : -pitch);
  if (slider.valueAsNumber === before) slider.valueAsNumber = before + (step % 2 === 0 ? -pitch : pitch);
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  await new Promise((done) => {
    const look = () => (last > 0 && status.textContent === '' && performance.now() - last > 250 ? done() : setTimeout(look, 20));
    look();
  });
  observer.disconnect();
  return last - start;
}

const site = await serve({ folder: siteFolder });
const browser = await launch();
const { page, close } = await openPage(browser, site.address);
await everyFigureDrawn(page);
const figures = await page.$$eval('[data-figure]', (all) => all.filter((one) => !one.querySelector('button.start')).map((one) => [one.dataset.figure, one.querySelectorAll('.knobs > .knob input[type="range"]').length]));
for (const [figure, knobs] of figures.filter(([name]) => positionals.length === 0 || positionals.includes(name))) {
  const times = [];
  for (let step = 0; step <= steps; step += 1) {
    for (let knob = 0; knob < Math.min(knobs, 4); knob += 1) {
      const time = await page.evaluate(turnKnob, { figure, knob, step });
      if (step > 0) times.push(time); // the first turn warms up
    }
  }
  times.sort((a, b) => a - b);
  console.log(`${times[Math.floor(times.length / 2)].toFixed(0).padStart(6)} ms median ${times.at(-1).toFixed(0).padStart(6)} ms longest  ${figure}`);
}
await close();
await browser.close();
await site.close();
