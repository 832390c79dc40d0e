// Pictures of the page: node screenshots.mjs FOLDER writes every section at every width, in both themes and languages; --readme FILE
// writes the one picture that the README shows.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '../../web/tools/serve.mjs';
import { everyFigureDrawn, launch, openPage, siteFolder } from './browser.mjs';

const { values, positionals } = parseArgs({ options: { readme: { type: 'string' }, break: { type: 'string' } }, allowPositionals: true });
if (!values.readme && positionals.length !== 1) throw new Error('usage: screenshots.mjs FOLDER | --readme FILE');

const site = await serve({ folder: siteFolder });
const browser = await launch();

async function opened({ width, scheme, language, search = '' }) {
  const options = { viewport: { width, height: 960 }, colorScheme: scheme, reducedMotion: 'reduce' };
  const { page, close } = await openPage(browser, `${site.address}?lang=${language}${search}`, options);
  await everyFigureDrawn(page);
  await page.evaluate(() => document.fonts.ready);
  return { page, close };
}

async function readmePicture(path) {
  const { page, close } = await opened({ width: 1440, scheme: 'light', language: 'en', search: '&recurrent-state.token=5' });
  await page.evaluate(() => document.querySelector('#recurrent-state').scrollIntoView());
  await page.screenshot({ path });
  await close();
}

async function sections(look, folder) {
  const { page, close } = await opened(look);
  await page.evaluate(() => { document.querySelector('.contents').style.position = 'static'; }); // it would lie over long sections
  for (const section of await page.$$('main > section')) {
    const name = await section.evaluate(({ id, className }) => id || className);
    await section.screenshot({ path: join(folder, `${name}-${look.width}-${look.scheme}-${look.language}.png`) });
  }
  await close();
}

if (values.readme) {
  await readmePicture(values.readme);
} else {
  const [folder] = positionals;
  mkdirSync(folder, { recursive: true });
  const search = values.break ? `&break=${values.break}` : '';
  for (const width of [360, 768, 1440]) {
    for (const scheme of ['light', 'dark']) {
      for (const language of ['en', 'zh']) {
        await sections({ width, scheme, language, search }, folder);
        console.log(`${width} pixels, ${scheme}, ${language}`);
      }
    }
  }
}
await browser.close();
await site.close();
