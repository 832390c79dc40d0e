// The element as an ES module for bundlers. These follow new URL('./file', import.meta.url) only where it is written out, so the addresses of
// modules, font and worker are put in after everything else has been bundled.
import { join, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { elementCss } from './element_css.ts';
import { buildId, modulePath, moduleFiles } from './wasm_modules.ts';

const web = resolve(import.meta.dirname, '..');
const at = (file: string) => `linearmem_at(${JSON.stringify(file)})`;

function modulesSource(): string {
  const entries = Object.entries(moduleFiles());
  const imports = entries.map(([, { build, file }], i) => `import create${i} from ${JSON.stringify(modulePath(build, `${file}.mjs`))};`);
  const members = entries.map(([name, { build, file }], i) => `  ${JSON.stringify(name)}: { get address() { return ${at(`parts/${build === 'scalar' ? 'scalar' : file}.wasm`)}; }, `
    + `buildId: ${JSON.stringify(buildId(build))}, createModule: async () => create${i} },`);
  return [...imports, 'export const modules = {', ...members, '};'].join('\n');
}

const replaced: Record<string, string> = {
  'start_worker.ts': 'src/embed/module_start_worker.ts',
  'base.ts': 'src/embed/module_base.ts',
};

export function npmElement(): Plugin {
  const sources: Record<string, () => string> = {
    'virtual:linearmem/modules': modulesSource,
    'virtual:linearmem/element-css': () => `export default ${JSON.stringify(elementCss())};`,
    'virtual:linearmem/font': () => `export const fontAddress = () => ${at('parts/KaTeX_Math-Italic.woff2')};`,
  };
  return {
    name: 'linearmem-npm-element',
    enforce: 'pre',
    resolveId(id) {
      if (id in sources) return `\0${id}`;
      const file = /\.\/(?:.*\/)?(start_worker\.ts|base\.ts)$/.exec(id)?.[1];
      return file ? join(web, replaced[file]!) : undefined;
    },
    load: (id) => sources[id.slice(1)]?.(),
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        chunk.code = chunk.code.replace(/linearmem_at\(["'`]([^"'`]+)["'`]\)/g, (_whole, file: string) => `new URL("./${file}", import.meta.url).href`)
          .replace(/linearmemWorkerAtBuild\(\)/g, 'new Worker(new URL("./element-worker.js", import.meta.url), { type: "module" })');
      }
    },
  };
}
