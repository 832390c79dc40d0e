// Puts script and stylesheet into the site's index.html and leaves linearmem.html alone of it all. A page from a file has no server to send a
// policy, and everything it runs stands in it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { site } from './stand_alone.ts';

const inScript = (code: string) => code.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');

function once(html: string, pattern: RegExp, replacement: string): string {
  if (html.match(new RegExp(pattern, 'g'))?.length !== 1) throw new Error(`index.html does not have exactly one ${pattern}`);
  return html.replace(pattern, () => replacement);
}

export function intoOneFile(html: string, code: string, css: string, firstPaint: string, icon: string): string {
  const whole = [
    [/<meta http-equiv="Content-Security-Policy"[^>]*>/, ''],
    [/<link rel="icon"[^>]*>/, `<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">`],
    [/<script[^>]*src="\.\/first_paint\.js"[^>]*><\/script>/, `<script data-single="yes">${inScript(firstPaint)}</script>`],
    [/<script type="module"[^>]*><\/script>/, ''],
    [/<link rel="stylesheet"[^>]*>/, `<style>${css}</style>`],
    [/<\/body>/, `<script>${inScript(code)}</script>\n</body>`],
  ] as const;
  return whole.reduce((page, [pattern, replacement]) => once(page, pattern, replacement), html.replace(/<link rel="modulepreload"[^>]*>\s*/g, ''));
}

export function singlePage(): Plugin {
  return {
    name: 'linearmem-single-page',
    enforce: 'post',
    generateBundle(_, bundle) {
      const text = (ending: string) => {
        const found = Object.values(bundle).filter(({ fileName }) => fileName.endsWith(ending));
        if (found.length !== 1) this.error(`the single page's build has ${found.length} files ${ending}, must have 1`);
        const [file] = found;
        return file!.type === 'chunk' ? file!.code : String(file!.source);
      };
      const from = (name: string) => readFileSync(join(site, name), 'utf8');
      const html = intoOneFile(from('index.html'), text('.js'), text('.css'), from('first_paint.js'), from('icon.svg'));
      for (const name of Object.keys(bundle)) delete bundle[name];
      this.emitFile({ type: 'asset', fileName: 'linearmem.html', source: html });
    },
  };
}
