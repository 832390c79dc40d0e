// Formulas become HTML and MathML when the page is built. KaTeX writes inline styles, which a strict style-src refuses, so
// each distinct style becomes a class of a stylesheet that is built along with the page.
import katex from 'katex';

export class FormulaSheet {
  private readonly classes = new Map<string, string>();

  render(source: string, display = false): string {
    const html = katex.renderToString(source, { displayMode: display, throwOnError: true, strict: 'error', output: 'htmlAndMathml' });
    return html.replace(/<(\w+)((?:\s[^<>]*?)?)\sstyle="([^"]*)"([^<>]*)>/g, (_, tag: string, before: string, style: string, after: string) =>
      `<${tag}${withClass(before + after, this.classFor(style))}>`);
  }

  css(): string {
    return [...this.classes].map(([style, name]) => `.katex .${name}{${style}}`).join('\n');
  }

  private classFor(style: string): string {
    const known = this.classes.get(style);
    if (known) return known;
    const name = `fx${this.classes.size.toString(36)}`;
    this.classes.set(style, name);
    return name;
  }
}

function withClass(attributes: string, name: string): string {
  return / class="/.test(attributes) ? attributes.replace(/ class="([^"]*)"/, ` class="$1 ${name}"`) : `${attributes} class="${name}"`;
}

// The faces that the formulas of the page use; a test holds the formulas to them.
const faces = /KaTeX_(Main-Regular|Math-Italic|Size[1-4]-Regular)\.woff2/;

// KaTeX's own stylesheet with those faces only, and only as woff2, which every browser that runs the module reads.
export function withNeededFaces(css: string): string {
  return css.replace(/@font-face\{[^}]*\}/g, (rule) => {
    const source = /url\([^)]*\.woff2\) format\("woff2"\)/.exec(rule)?.[0] ?? '';
    return faces.test(source) ? rule.replace(/src:[^;}]*/, `src:${source}`) : '';
  });
}
