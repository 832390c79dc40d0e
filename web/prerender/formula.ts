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

// KaTeX's own stylesheet without the older font formats: every browser that runs the module reads woff2.
export function withoutOldFontFormats(css: string): string {
  return css.replace(/src:([^;}]*)/g, (whole, list: string) => {
    const kept = list.split(',').filter((source) => source.includes('format("woff2")'));
    return kept.length > 0 ? `src:${kept.join(',')}` : whole;
  });
}
