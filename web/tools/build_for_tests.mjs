// The browser tests are of the page as it is now, so vitest builds it before them.
import { resolve } from 'node:path';
import { build } from 'vite';

export default async function setup() {
  const root = resolve(import.meta.dirname, '..');
  await build({ root, configFile: resolve(root, 'vite.config.ts'), logLevel: 'warn', mode: 'production' });
}
