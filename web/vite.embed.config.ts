// linear-mem.js: the custom element as one classic script. It finds the modules among the site's files, beside which it lies.
import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { embedPage } from './prerender/embed_page.ts';
import { leanPlot } from './prerender/lean_plot.ts';
import { site, standAlone } from './prerender/stand_alone.ts';

export default defineConfig({
  publicDir: false,
  plugins: [standAlone('beside'), leanPlot(), embedPage()],
  build: {
    target: 'es2022',
    outDir: site,
    emptyOutDir: false,
    reportCompressedSize: false,
    lib: { entry: resolve(import.meta.dirname, 'src/embed/index.ts'), formats: ['iife'], name: 'linearMem', fileName: () => 'linear-mem.js' },
  },
});
