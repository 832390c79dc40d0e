// Memory after long use, in a file of its own: it takes as long as many others together.
import { expect, test } from 'vitest';
import { memoryGrowth } from '../../../web/tools/memory.mjs';
import { serve } from '../../../web/tools/serve.mjs';
import { siteFolder } from '../browser.mjs';

test('much use does not grow the page: 500 changes of knobs and 20 reloads', async () => {
  const site = await serve({ folder: siteFolder });
  const grown = await memoryGrowth(site.address, { changes: 500, reloads: 20 }).finally(() => site.close());
  expect(grown.changes, JSON.stringify(grown.seen)).toBeLessThan(10);
  expect(grown.reloads, JSON.stringify(grown.seen)).toBeLessThan(10);
}, 600_000);
