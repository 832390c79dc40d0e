// Makes the npm package from the modules: node tools/pack_npm.mjs. Leaves build/npm/linearmem and the archive of npm pack beside it;
// publishes nothing. The module is the whole one, with and without SIMD; the element has the parts.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const web = resolve(import.meta.dirname, '..');
const out = resolve(web, '../build/npm');
const folder = join(out, 'linearmem');
const simd = resolve(process.env.LINEARMEM_WASM ?? join(web, '../build/wasm/wasm'));
const scalar = join(simd, 'scalar');
const font = join(dirname(createRequire(import.meta.url).resolve('katex/dist/katex.min.css')), 'fonts/KaTeX_Math-Italic.woff2');

export async function packNpm() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(folder, 'parts'), { recursive: true });
  const put = (from, to) => cpSync(from, join(folder, to), { recursive: true });
  put(join(web, 'npm'), '.');
  put(resolve(web, '../LICENSE'), 'LICENSE');
  for (const ending of ['mjs', 'wasm']) {
    put(join(simd, `linearmem.${ending}`), `module/linearmem.${ending}`);
    put(join(scalar, `linearmem.${ending}`), `module/linearmem-scalar.${ending}`);
  }
  for (const name of ['linearmem', 'linearmem-scalar']) put(resolve(web, '../wasm/linearmem.d.ts'), `module/${name}.d.mts`);
  for (const file of readdirSync(simd).filter((name) => /^linearmem-.*\.wasm$/.test(name))) put(join(simd, file), `parts/${file}`);
  put(join(scalar, 'linearmem.wasm'), 'parts/scalar.wasm');
  put(font, 'parts/KaTeX_Math-Italic.woff2');
  for (const entry of ['element', 'worker']) {
    process.env.LINEARMEM_NPM_ENTRY = entry;
    await build({ root: web, configFile: join(web, 'vite.npm.config.ts'), logLevel: 'error', mode: 'production' });
  }
  const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', out], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  return join(out, filename);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await packNpm());
