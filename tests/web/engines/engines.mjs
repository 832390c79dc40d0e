// Three engines behind one small door: start() gives { open(address), close() }, a page { evaluate(fn, ...args), until(fn, ...args), close() }.
// Functions are sent as text and their arguments and results as JSON, since the three protocols agree on nothing more.
import { launch } from '../browser.mjs';
import { startFirefox } from './firefox.mjs';
import { startWebKit } from './webkit.mjs';

const patience = 40_000; // ms; a busy machine is slow, not wrong

export const asText = (fn, args) => `async () => JSON.stringify(await (${fn})(...${JSON.stringify(args)}) ?? null)`;

// page: { run(text of a function that gives JSON), close() }
export function withPatience(page) {
  const evaluate = async (fn, ...args) => JSON.parse(await page.run(asText(fn, args)));
  return {
    evaluate,
    async until(fn, ...args) {
      for (const end = Date.now() + patience; ;) {
        const value = await evaluate(fn, ...args);
        if (value) return value;
        if (Date.now() > end) {
          const seen = await evaluate(() => document.body?.innerText.slice(0, 300) ?? '');
          throw new Error(`after ${patience / 1000} s still not: ${fn}\nthe page reads: ${seen}`);
        }
        await new Promise((resume) => setTimeout(resume, 50));
      }
    },
    close: () => page.close(),
  };
}

async function startChromium() {
  const browser = await launch();
  return {
    async open(address) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US' });
      const page = await context.newPage();
      await page.goto(address);
      return withPatience({ run: (text) => page.evaluate(`(${text})()`), close: () => context.close() });
    },
    close: () => browser.close(),
  };
}

export const engines = { Chromium: startChromium, Firefox: startFirefox, WebKit: startWebKit };
