// gallery.html; and embed.html, the page for an iframe: one figure, named by its query. It carries no policy of its own: in a frame that may only run scripts
// WebKit takes 'self' for nothing at all, and the figure would be refused its own script.
import type { Plugin } from 'vite';
import { galleryHtml } from './gallery.ts';
import { catalogue } from './wasm_modules.ts';

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>LinearMem: a figure</title>
<script src="./linear-mem.js"></script>
<script src="./embed_frame.js" defer></script>
</head>
<body>
<noscript><p>This figure is computed in the browser, so it needs JavaScript and WebAssembly.</p>
<p lang="zh-Hans">这幅图在浏览器中计算，需要 JavaScript 和 WebAssembly。</p></noscript>
</body>
</html>
`;

export function embedPage(): Plugin {
  return {
    name: 'linearmem-embed-page',
    async generateBundle() {
      const { experiments, timings } = await catalogue();
      this.emitFile({ type: 'asset', fileName: 'gallery.html', source: galleryHtml([...experiments, ...timings].map(({ name }) => name)) });
      this.emitFile({ type: 'asset', fileName: 'embed.html', source: html });
    },
  };
}
