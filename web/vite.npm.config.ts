// The ES modules of the npm package's element, into the folder that tools/pack_npm.mjs fills.
import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { leanPlot } from './prerender/lean_plot.ts';
import { npmElement } from './prerender/npm_element.ts';
import { wasmModules } from './prerender/wasm_modules.ts';

const entry = process.env.LINEARMEM_NPM_ENTRY === 'worker' ? { 'element-worker': 'module_worker.ts' } : { element: 'module.ts' };

export default defineConfig({
  publicDir: false,
  plugins: [npmElement(), wasmModules(), ...('element' in entry ? [leanPlot()] : [])],
  build: {
    target: 'es2022',
    outDir: resolve(import.meta.dirname, '../build/npm/linearmem'),
    emptyOutDir: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2048,
    rolldownOptions: { output: { codeSplitting: false } },
    lib: { entry: Object.fromEntries(Object.entries(entry).map(([name, file]) => [name, resolve(import.meta.dirname, 'src/embed', file)])), formats: ['es'], fileName: (_, name) => `${name}.js` },
  },
});
