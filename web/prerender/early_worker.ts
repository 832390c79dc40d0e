// Tells public/first_paint.js where the worker's script lies, so that it can be started before the page's own scripts are there.
import type { Plugin } from 'vite';

export function earlyWorker(): Plugin {
  return {
    name: 'linearmem-early-worker',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const worker = Object.keys(bundle ?? {}).filter((file) => /(^|\/)worker-[\w-]+\.js$/.test(file));
        if (worker.length !== 1) throw new Error(`the build has ${worker.length} scripts called worker, must have 1: ${Object.keys(bundle ?? {}).join(', ')}`);
        return html.replace('src="./first_paint.js"', `src="./first_paint.js" data-worker="./${worker[0]}"`);
      },
    },
  };
}
