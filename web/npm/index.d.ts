import type { LinearMemModule } from './module/linearmem.mjs';

export type * from './module/linearmem.mjs';

export interface OpenOptions {
  simd?: 'auto' | 'off'; // auto: with SIMD where it can be read
  wasmBinary?: ArrayBuffer | Uint8Array; // the bytes of the module, where the caller has them
}

/** Opens a module of its own each time. Rejects where the bytes do not arrive or cannot be compiled. */
export function openLinearMem(options?: OpenOptions): Promise<LinearMemModule>;
