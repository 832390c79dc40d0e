// What the scripts that stand alone need instead of the site's addresses: linear-mem.js finds modules and font beside itself, among the site's
// files; the single page carries them.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { elementCss } from './element_css.ts';
import { buildId, catalogue, modulePath, moduleFiles } from './wasm_modules.ts';

const web = resolve(import.meta.dirname, '..');
const baseScript = JSON.stringify(join(web, 'src/embed/base.ts'));
const fontFile = 'KaTeX_Math-Italic.woff2';
const fontPath = join(dirname(createRequire(import.meta.url).resolve('katex/dist/katex.min.css')), 'fonts', fontFile);

export const site = join(web, 'dist');

// The site's own copy of a file: assets/NAME-HASH.ext
function asset(name: string, ending: string): string {
  const found = readdirSync(join(site, 'assets')).filter((file) => file.startsWith(`${name}-`) && file.endsWith(ending) && /^-[\w-]{8}\./.test(file.slice(name.length)));
  if (found.length !== 1) throw new Error(`${site}/assets has ${found.length} files for ${name}${ending}, must have 1: build the site first`);
  return `assets/${found[0]}`;
}

function besideSource(): string {
  const entries = Object.entries(moduleFiles());
  const imports = entries.map(([, { build, file }], i) => `import create${i} from ${JSON.stringify(modulePath(build, `${file}.mjs`))};`);
  const members = entries.map(([name, { build, file }], i) => `  ${JSON.stringify(name)}: { address: new URL(${JSON.stringify(asset(file, '.wasm'))}, base).href, `
    + `buildId: ${JSON.stringify(buildId(build))}, createModule: async () => create${i} },`);
  return [`import { base } from ${baseScript};`, ...imports, 'export const modules = {', ...members, '};'].join('\n');
}

// The whole module once with SIMD and once without, in place of its parts.
const whole = { whole: 'simd', scalar: 'scalar' } as const;

function carriedSource(): string {
  const entries = Object.entries(whole);
  const imports = entries.map(([name, build]) => `import ${name} from ${JSON.stringify(modulePath(build, 'linearmem.mjs'))};`);
  const members = entries.map(([name, build]) => {
    const bytes = readFileSync(modulePath(build, 'linearmem.wasm')).toString('base64');
    return `  ${name}: { address: '', buildId: ${JSON.stringify(buildId(build))}, createModule: async () => ${name}, carried: () => bytesOf(${JSON.stringify(bytes)}) },`;
  });
  return [...imports, 'const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;',
    'export const modules = {', ...members, '};'].join('\n');
}

async function catalogueSource(kind: 'beside' | 'carried'): Promise<string> {
  const known = await catalogue();
  const partOf = kind === 'beside' ? known.partOf : Object.fromEntries(Object.keys(known.partOf).map((name) => [name, 'whole']));
  return `export const catalogue = ${JSON.stringify({ ...known, partOf })};`;
}

const fontSource = { beside: () => `import { base } from ${baseScript};\nexport const fontAddress = () => new URL(${JSON.stringify(asset('KaTeX_Math-Italic', '.woff2'))}, base).href;`,
  carried: () => `export const fontAddress = () => 'data:font/woff2;base64,${readFileSync(fontPath).toString('base64')}';` };

export function standAlone(kind: 'beside' | 'carried'): Plugin {
  const sources: Record<string, () => string | Promise<string>> = {
    'virtual:linearmem/modules': kind === 'beside' ? besideSource : carriedSource,
    'virtual:linearmem/catalogue': () => catalogueSource(kind),
    'virtual:linearmem/element-css': () => `export default ${JSON.stringify(elementCss())};`,
    'virtual:linearmem/font': fontSource[kind],
  };
  return {
    name: `linearmem-${kind}`,
    enforce: 'pre',
    resolveId: (id) => (id in sources ? `\0${id}` : /\/start_worker\.ts$/.test(id) ? join(web, 'src/embed/start_worker.ts') : undefined),
    load: (id) => sources[id.slice(1)]?.(),
  };
}

