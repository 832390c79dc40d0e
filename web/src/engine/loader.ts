// The one place that fetches, checks and starts the module, in the page and in a worker alike. The bytes are fetched by
// hand and never streamed, so the server's idea of their MIME type does not matter.
import type { LinearMemModule, ModuleOptions } from 'linearmem';
import { modules } from 'virtual:linearmem/modules';
import { asLoadFailure, LoadFailure } from './failure.ts';
import type { Simd } from './calls.ts';
import { patience } from './patience.ts';

export interface Build {
  address: string;
  buildId: string;
  carried?(): ArrayBuffer; // the module itself, where the script carries it
  createModule(): Promise<(options: ModuleOptions) => Promise<LinearMemModule>>;
}

// The parts by their names, and 'scalar': the whole module, for browsers without SIMD.
export const builds: Record<string, Build> = modules;

export interface Fetched {
  name: string;
  bytes: ArrayBuffer;
}

const magic = [0x00, 0x61, 0x73, 0x6d];
const emptyModule = new Uint8Array([...magic, 1, 0, 0, 0]);
// One function () -> v128: i32.const 0, i8x16.splat.
const simdModule = new Uint8Array([...magic, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10, 8, 1, 6, 0, 0x41, 0, 0xfd, 15, 11]);

export function readsSimd(simd: Simd): boolean {
  if (typeof WebAssembly !== 'object') throw new LoadFailure('no-wasm');
  return simd === 'auto' && WebAssembly.validate(simdModule);
}

// The bytes of a part, or of the scalar module where the browser cannot read SIMD or the part does not validate.
export async function fetchModule(part: string, simd: Simd, table = builds): Promise<Fetched> {
  let name = readsSimd(simd) ? part : 'scalar';
  for (;;) {
    const bytes = await bytesOf(table[name]!);
    if (WebAssembly.validate(bytes)) return { name, bytes };
    if (name === 'scalar') throw new LoadFailure('unsupported');
    name = 'scalar';
  }
}

async function bytesOf({ address, carried }: Build): Promise<ArrayBuffer> {
  return carried ? carried() : fetchBytes(address);
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
  const build = table[name]!;
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
