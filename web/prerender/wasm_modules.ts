// Where the page finds the module: virtual:linearmem/modules has the glue and the address of each part, and of the whole without
// SIMD; virtual:linearmem/catalogue says which part has which claims and experiments, as the parts themselves tell at build time.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ClaimInfo, ExperimentInfo, LedgerModel, LinearMemModule, MistakeInfo } from 'linearmem';
import type { Plugin } from 'vite';

const web = resolve(import.meta.dirname, '..');

const built = resolve(process.env.LINEARMEM_WASM ?? join(web, '../build/wasm/wasm'));
const folders = { simd: built, scalar: join(built, 'scalar') };

export type BuildName = keyof typeof folders;

export type ClaimEntry = Pick<ClaimInfo, 'id' | 'room' | 'mistakes'>; // what a run needs; the rest is fetched when a claim is opened

export interface Catalogue {
  claims: ClaimEntry[];
  mistakes: MistakeInfo[];
  experiments: ExperimentInfo[];
  timings: ExperimentInfo[];
  ledgerModels: LedgerModel[];
  partOf: Record<string, string>; // of a claim's id or an experiment's name
}

export const parts = readdirSync(join(web, '..', 'wasm', 'parts')).map((file) => basename(file, '.cpp'));

export const moduleFolder = (name: BuildName): string => folders[name];

export function modulePath(name: BuildName, file: string): string {
  const path = join(moduleFolder(name), file);
  if (existsSync(path)) return path;
  throw new Error(`${path} is missing: build it with "cmake --workflow --preset wasm" or set LINEARMEM_WASM to its folder`);
}

export function buildId(name: BuildName): string {
  return readFileSync(modulePath(name, 'build-id.txt'), 'utf8').trim();
}

// Files without their ending, by the name the page calls them.
export function moduleFiles(): Record<string, { build: BuildName; file: string }> {
  const simd = parts.map((part) => [part, { build: 'simd', file: `linearmem-${part}` }] as const);
  return Object.fromEntries([...simd, ['scalar', { build: 'scalar', file: 'linearmem' }] as const]);
}

export async function openPart(part: string): Promise<LinearMemModule> {
  const { build, file } = moduleFiles()[part]!;
  const { default: create } = await import(/* @vite-ignore */ pathToFileURL(modulePath(build, `${file}.mjs`)).href);
  return create({ wasmBinary: readFileSync(modulePath(build, `${file}.wasm`)) });
}

interface Opened {
  part: string;
  module: LinearMemModule;
}

let opening: Promise<Opened[]> | undefined;
const openParts = () => (opening ??= Promise.all(parts.map(async (part) => ({ part, module: await openPart(part) }))));

// Every claim with all its words, in the page's order.
export async function allClaims(): Promise<ClaimInfo[]> {
  const order = ['LM', 'AM', 'RM'];
  const place = ({ id }: ClaimInfo) => `${order.indexOf(id.slice(0, 2))}${id}`;
  return (await openParts()).flatMap(({ module }) => module.claims()).sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

export async function catalogue(): Promise<Catalogue> {
  const opened = await openParts();
  const claims = (await allClaims()).map(({ id, room, mistakes }) => ({ id, room, mistakes }));
  const experiments = opened.flatMap(({ module }) => module.experiments());
  const figuresOf = (module: LinearMemModule) => [...module.experiments(), ...(module.timings?.() ?? [])];
  const timings = opened.flatMap(({ module }) => module.timings?.() ?? []);
  const partOf = Object.fromEntries(opened.flatMap(({ part, module }) =>
    [...module.claims().map(({ id }) => id), ...figuresOf(module).map(({ name }) => name)].map((key) => [key, part])));
  const ledgerModels = opened.find(({ part }) => part === 'ledger')!.module.ledgerModels();
  return { claims, mistakes: opened[0]!.module.mistakes(), experiments, timings, ledgerModels, partOf };
}

// The first part's glue travels with the script that uses it; the others' are fetched along with their modules.
async function modulesSource(): Promise<string> {
  const firstPart = await partOfFirst();
  const entries = Object.entries(moduleFiles());
  const paths = entries.map(([name, { build, file }], i) =>
    ({ name, build, address: `address${i}`, glue: modulePath(build, `${file}.mjs`), wasm: modulePath(build, `${file}.wasm`) }));
  const imports = paths.map(({ address, wasm }) => `import ${address} from ${JSON.stringify(`${wasm}?url`)};`);
  imports.push(`import createFirst from ${JSON.stringify(paths.find(({ name }) => name === firstPart)!.glue)};`);
  const members = paths.map(({ name, build, address, glue }) => `  ${JSON.stringify(name)}: { address: ${address}, `
    + `buildId: ${JSON.stringify(buildId(build))}, createModule: async () => ${name === firstPart ? 'createFirst' : `(await import(${JSON.stringify(glue)})).default`} },`);
  return [...imports, 'export const modules = {', ...members, '};'].join('\n');
}

async function partOfFirst(): Promise<string> {
  const { claims, partOf } = await catalogue();
  return partOf[claims[0]!.id]!;
}

const sources: Record<string, () => string | Promise<string>> = {
  'virtual:linearmem/modules': modulesSource,
  'virtual:linearmem/first-part': async () => `export const firstPart = ${JSON.stringify(await partOfFirst())};`,
  'virtual:linearmem/catalogue': async () => `export const catalogue = ${JSON.stringify(await catalogue())};`,
};

export function wasmModules(): Plugin {
  return {
    name: 'linearmem-wasm-modules',
    config: () => ({ server: { fs: { allow: [join(web, '..'), built] } } }),
    resolveId: (id) => (id in sources ? `\0${id}` : undefined),
    load: (id) => sources[id.slice(1)]?.(),
  };
}
