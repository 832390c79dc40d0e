// Two suites: unit tests under Node with the real module, and the built page in Chromium. One summary for both.
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { wasmModules } from './prerender/wasm_modules.ts';

const tests = resolve(import.meta.dirname, '../tests/web');

export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  cacheDir: resolve(import.meta.dirname, 'node_modules/.vite'),
  resolve: { alias: { vitest: resolve(import.meta.dirname, 'node_modules/vitest') } },
  test: {
    projects: [
      { extends: true, plugins: [wasmModules()], test: { name: 'unit', include: [`${tests}/unit/*.test.ts`] } },
      {
        extends: true,
        plugins: [wasmModules()],
        test: {
          name: 'browser', include: [`${tests}/browser/*.test.ts`], globalSetup: [resolve(import.meta.dirname, 'tools/build_for_tests.mjs')],
          maxWorkers: 2, sequence: { groupOrder: 1 }, testTimeout: 90_000, hookTimeout: 60_000,
        },
      },
    ],
  },
});
