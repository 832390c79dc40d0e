// The browser tests are of the page as it is now, so vitest builds it before them: the site, then what is made of its files.
import { resolve } from 'node:path';
import { build } from 'vite';

export default async function setup() {
  const root = resolve(import.meta.dirname, '..');
  for (const config of ['vite.config.ts', 'vite.embed.config.ts', 'vite.single.config.ts']) {
    await build({ root, configFile: resolve(root, config), logLevel: 'warn', mode: 'production' });
  }
}
