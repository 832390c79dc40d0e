// The stylesheet of the custom element: that of a figure on the page, moved into the element's box. There :root is the box, dark mode is what
// the box says (theme="dark", or as the reader's system), and a rem is 16 px, since the page around it may have any root font size.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', 'src', 'figure');
const dark = '@media (prefers-color-scheme: dark) {';

// `all: initial` leaves direction and custom properties; the latter are all set anew on the box.
const box = `:host{display:block;contain:inline-size}
:host([hidden]){display:none}
.box{all:initial;direction:ltr;unicode-bidi:isolate;display:block;box-sizing:border-box;padding:16px;background:var(--ground);color:var(--ink);
font:16px/var(--line) var(--sans);overflow-wrap:break-word;text-align:start}
.box:lang(zh){--line:1.8}
.box[data-theme="dark"]{color-scheme:dark}.box[data-theme="light"]{color-scheme:light}
.box p,.box ul{margin:0;padding:0}
@media print{.box button,.box .knobs,.box .picture-editor{display:none}}`;

function blockEnd(css: string, start: number): number {
  let depth = 0;
  for (let i = css.indexOf('{', start); i < css.length; i += 1) {
    if (css[i] === '{') depth += 1;
    else if (css[i] === '}' && (depth -= 1) === 0) return i;
  }
  throw new Error('a stylesheet of a figure has an open block at its end');
}

function resolveDark(css: string): string {
  let out = '';
  let from = 0;
  for (let at = css.indexOf(dark); at >= 0; at = css.indexOf(dark, from)) {
    const end = blockEnd(css, at);
    const inner = css.slice(at + dark.length, end);
    const selectors = [...inner.matchAll(/([^{}]+)\{/g)].map(([, selector]) => selector!.trim());
    const stranger = selectors.find((selector) => !/^:root\b/.test(selector));
    if (stranger) throw new Error(`in a dark block of a figure's stylesheet every rule must begin with :root, ${stranger} does not`);
    out += css.slice(from, at) + inner.replaceAll(':root', '.box[data-theme="dark"]');
    from = end + 1;
  }
  return out + css.slice(from);
}

export function moveIntoBox(css: string): string {
  const bare = css.replace(/\/\*[^]*?\*\//g, '').replace(/color-scheme: light dark;/g, '');
  const moved = resolveDark(bare).replaceAll(':root', '.box');
  if (/(^|[\s,{}])(html|body)\b/.test(moved)) throw new Error('a stylesheet of a figure names html or body, which the element does not have');
  return moved.replace(/(\d*\.?\d+)rem\b/g, (_, amount: string) => `${Number((Number(amount) * 16).toFixed(3))}px`).replace(/\s+/g, ' ').replace(/ ?([{};,]) ?/g, '$1');
}

export function elementCss(): string {
  const sheets = readdirSync(folder).filter((file) => file.endsWith('.css')).sort();
  return box.replaceAll('\n', '') + sheets.map((file) => moveIntoBox(readFileSync(join(folder, file), 'utf8'))).join('');
}
