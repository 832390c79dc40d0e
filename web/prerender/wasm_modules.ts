// Where the page finds the two builds of the module: linearmem/simd and linearmem/scalar (glue), the same names with
// .wasm?url (address of the hashed asset), and the build id each glue must answer with.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Plugin } from 'vite';

const web = resolve(import.meta.dirname, '..');

const builds = [
  { name: 'simd', variable: 'LINEARMEM_WASM', preset: 'wasm' },
  { name: 'scalar', variable: 'LINEARMEM_WASM_SCALAR', preset: 'wasm-scalar' },
] as const;

export type BuildName = (typeof builds)[number]['name'];

export function moduleFolder(name: BuildName): string {
  const build = builds.find((candidate) => candidate.name === name)!;
  return resolve(process.env[build.variable] ?? join(web, '..', 'build', build.preset, 'wasm'));
}

function demand(name: BuildName, file: string): string {
  const { variable, preset } = builds.find((build) => build.name === name)!;
  const path = join(moduleFolder(name), file);
  if (existsSync(path)) return path;
  throw new Error(`${path} is missing: build it with "cmake --workflow --preset ${preset}" or set ${variable} to its folder`);
}

export function buildId(name: BuildName): string {
  return readFileSync(demand(name, 'build-id.txt'), 'utf8').trim();
}

export function wasmModules(): Plugin {
  return {
    name: 'linearmem-wasm-modules',
    config: () => ({
      define: {
        __LINEARMEM_BUILD_IDS__: JSON.stringify(Object.fromEntries(builds.map(({ name }) => [name, buildId(name)]))),
      },
      resolve: {
        alias: builds.flatMap(({ name }) => [
          { find: new RegExp(`^linearmem/${name}$`), replacement: demand(name, 'linearmem.mjs') },
          { find: new RegExp(`^linearmem/${name}\\.wasm(?=\\?|$)`), replacement: demand(name, 'linearmem.wasm') },
        ]),
      },
      server: { fs: { allow: [join(web, '..'), ...builds.map(({ name }) => moduleFolder(name))] } },
    }),
  };
}
