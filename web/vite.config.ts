// The site: one static page with relative addresses, so that it runs under any sub-path and needs no special headers.
import { defineConfig } from 'vite';
import { contentSecurityPolicy } from './prerender/content_security_policy.ts';
import { earlyWorker } from './prerender/early_worker.ts';
import { leanPlot } from './prerender/lean_plot.ts';
import { plainStylesheet } from './prerender/plain_stylesheet.ts';
import { prerender } from './prerender/plugin.ts';
import { wasmModules } from './prerender/wasm_modules.ts';

export default defineConfig({
  base: './',
  plugins: [wasmModules(), prerender(), leanPlot(), plainStylesheet(), earlyWorker(), contentSecurityPolicy()],
  worker: { format: 'es', plugins: () => [wasmModules()] },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0, // a data: address would need a wider policy than the page publishes
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
