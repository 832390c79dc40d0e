// Opens the module: with SIMD where that can be read, else without. In Node the bytes are read from beside this file, elsewhere they are fetched.
import createScalar from './module/linearmem-scalar.mjs';
import createSimd from './module/linearmem.mjs';

const builds = {
  simd: { create: createSimd, address: new URL('./module/linearmem.wasm', import.meta.url) },
  scalar: { create: createScalar, address: new URL('./module/linearmem-scalar.wasm', import.meta.url) },
};

// One function () -> v128.
const simdModule = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10, 8, 1, 6, 0, 0x41, 0, 0xfd, 15, 11]);

async function bytesOf(address) {
  if (address.protocol === 'file:') {
    const files = 'node:fs/promises'; // by a name, so that a bundler for the browser does not look for it
    return (await import(/* @vite-ignore */ files)).readFile(address);
  }
  const response = await fetch(address);
  if (!response.ok) throw new Error(`linearmem: the server answered ${response.status} for ${address}`);
  return response.arrayBuffer();
}

export async function openLinearMem({ simd = 'auto', wasmBinary } = {}) {
  if (simd !== 'auto' && simd !== 'off') throw new RangeError(`openLinearMem: simd is ${simd}, must be 'auto' or 'off'`);
  const { create, address } = builds[simd === 'auto' && WebAssembly.validate(simdModule) ? 'simd' : 'scalar'];
  return create({ wasmBinary: wasmBinary ?? await bytesOf(address) });
}
