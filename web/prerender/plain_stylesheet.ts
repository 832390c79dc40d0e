// Vite marks the stylesheet crossorigin, and a page that was opened as a file then gets none: it could not even say in good
// order why it does not run.
import type { Plugin } from 'vite';

export function plainStylesheet(): Plugin {
  return {
    name: 'linearmem-plain-stylesheet',
    apply: 'build',
    transformIndexHtml: { order: 'post', handler: (html) => html.replace(/<link rel="stylesheet" crossorigin /g, '<link rel="stylesheet" ') },
  };
}
