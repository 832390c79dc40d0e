// Pictures of the page: node screenshots.mjs FOLDER writes every width, theme and language; --readme FILE writes the one
// picture that the README shows.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '../../web/tools/serve.mjs';
import { everyFigureDrawn, launch, openPage, siteFolder } from './browser.mjs';

const { values, positionals } = parseArgs({ options: { readme: { type: 'string' }, break: { type: 'string' } }, allowPositionals: true });
if (!values.readme && positionals.length !== 1) throw new Error('usage: screenshots.mjs FOLDER | --readme FILE');

const site = await serve({ folder: siteFolder });
const browser = await launch();

async function picture({ width, scheme, language, search = '', from = 'body' }, path, fullPage) {
  const options = { viewport: { width, height: 960 }, colorScheme: scheme, reducedMotion: 'reduce' };
  const { page, close } = await openPage(browser, `${site.address}?lang=${language}${search}`, options);
  await everyFigureDrawn(page);
  await page.evaluate(() => document.fonts.ready);
  if (!fullPage) await page.evaluate((selector) => document.querySelector(selector).scrollIntoView(), from);
  await page.screenshot({ path, fullPage });
  await close();
  console.log(path);
}

if (values.readme) {
  await picture({ width: 1440, scheme: 'light', language: 'en', search: '&recurrent-state.token=5', from: '#recurrent-state' }, values.readme, false);
} else {
  const [folder] = positionals;
  mkdirSync(folder, { recursive: true });
  const search = values.break ? `&break=${values.break}` : '';
  for (const width of [360, 768, 1440]) {
    for (const scheme of ['light', 'dark']) {
      for (const language of ['en', 'zh']) {
        await picture({ width, scheme, language, search }, join(folder, `${width}-${scheme}-${language}.png`), true);
      }
    }
  }
}
await browser.close();
await site.close();
