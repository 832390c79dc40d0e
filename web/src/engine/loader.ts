// The one place that fetches, checks and starts the module, in the page and in a worker alike. The bytes are fetched by
// hand and never streamed, so the server's idea of their MIME type does not matter.
import type { LinearMemModule, ModuleOptions } from 'linearmem';
import scalarAddress from 'linearmem/scalar.wasm?url';
import simdAddress from 'linearmem/simd.wasm?url';
import { asLoadFailure, LoadFailure } from './failure.ts';

export type BuildName = 'simd' | 'scalar';

export interface Build {
  address: string;
  buildId: string;
  createModule(): Promise<(options: ModuleOptions) => Promise<LinearMemModule>>;
}

export const builds: Record<BuildName, Build> = {
  simd: {
    address: simdAddress, buildId: __LINEARMEM_BUILD_IDS__.simd, createModule: async () => (await import('linearmem/simd')).default,
  },
  scalar: {
    address: scalarAddress, buildId: __LINEARMEM_BUILD_IDS__.scalar, createModule: async () => (await import('linearmem/scalar')).default,
  },
};

export interface Fetched {
  name: BuildName;
  bytes: ArrayBuffer;
}

const magic = [0x00, 0x61, 0x73, 0x6d];
const emptyModule = new Uint8Array([...magic, 1, 0, 0, 0]);
// One function () -> v128: i32.const 0, i8x16.splat.
const simdModule = new Uint8Array([...magic, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10, 8, 1, 6, 0, 0x41, 0, 0xfd, 15, 11]);

export const patience = 15_000; // milliseconds without a byte before the server counts as silent

export function preferredBuild(simd: 'auto' | 'off'): BuildName {
  if (typeof WebAssembly !== 'object') throw new LoadFailure('no-wasm');
  return simd === 'auto' && WebAssembly.validate(simdModule) ? 'simd' : 'scalar';
}

// The bytes of the best build this browser can read. A SIMD build that does not validate gives way to the scalar one.
export async function fetchModule(simd: 'auto' | 'off', table = builds): Promise<Fetched> {
  let name = preferredBuild(simd);
  for (;;) {
    const bytes = await fetchBytes(table[name].address);
    if (WebAssembly.validate(bytes)) return { name, bytes };
    if (name === 'scalar') throw new LoadFailure('unsupported');
    name = 'scalar';
  }
}

async function fetchBytes(address: string): Promise<ArrayBuffer> {
  const stop = new AbortController();
  let timer = setTimeout(() => stop.abort(), patience);
  try {
    const response = await fetch(address, { signal: stop.signal });
    if (!response.ok) throw new LoadFailure('not-found', { address, status: response.status });
    const bytes = await gather(response, () => {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), patience);
    });
    if (!startsLikeWasm(bytes)) throw new LoadFailure('wrong-content', { address });
    return bytes;
  } catch (problem) {
    throw problem instanceof LoadFailure ? problem : new LoadFailure('no-answer', { address });
  } finally {
    clearTimeout(timer);
  }
}

async function gather(response: Response, onBytes: () => void): Promise<ArrayBuffer> {
  if (!response.body) return response.arrayBuffer();
  const reader = response.body.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    onBytes();
  }
  return new Blob(parts).arrayBuffer();
}

export function startsLikeWasm(bytes: ArrayBuffer): boolean {
  const head = new Uint8Array(bytes, 0, Math.min(4, bytes.byteLength));
  return magic.every((byte, i) => head[i] === byte);
}

export async function startModule({ name, bytes }: Fetched, table = builds): Promise<LinearMemModule> {
  const build = table[name];
  if (!mayCompile()) throw new LoadFailure('csp');
  try {
    const create = await build.createModule();
    const module = await create({ wasmBinary: bytes });
    const found = module.buildId();
    if (found !== build.buildId) throw new LoadFailure('stale', { expected: build.buildId, found });
    return module;
  } catch (problem) {
    throw asLoadFailure(problem);
  }
}

// The smallest module compiles wherever compiling is allowed, so a refusal here is the policy's and not the module's.
function mayCompile(): boolean {
  try {
    return new WebAssembly.Module(emptyModule) instanceof WebAssembly.Module;
  } catch {
    return false;
  }
}
