// linearmem.html: the whole page in one file that opens by a double click. Its text is the site's index.html, already built.
import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { leanPlot } from './prerender/lean_plot.ts';
import { prerender } from './prerender/plugin.ts';
import { singlePage } from './prerender/single_page.ts';
import { site, standAlone } from './prerender/stand_alone.ts';

export default defineConfig({
  publicDir: false,
  plugins: [standAlone('carried'), prerender(), leanPlot(), singlePage()],
  build: {
    target: 'es2022',
    outDir: site,
    emptyOutDir: false,
    reportCompressedSize: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    chunkSizeWarningLimit: 8192,
    lib: { entry: resolve(import.meta.dirname, 'src/embed/single.ts'), formats: ['iife'], name: 'linearMem', fileName: () => 'single.js', cssFileName: 'single' },
  },
});
