// Reads a safetensors file that this repository ships into the tensors the module takes.
import { readFile } from 'node:fs/promises';

const arrays = { F64: Float64Array, F32: Float32Array, I64: BigInt64Array, BOOL: Uint8Array };

export async function readSafetensors(file) {
  const bytes = await readFile(file);
  const headerBytes = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, 8 + headerBytes).toString('utf8'));
  delete header.__metadata__;
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [begin, end] }] of Object.entries(header)) {
    const start = 8 + headerBytes;
    const copy = bytes.buffer.slice(bytes.byteOffset + start + begin, bytes.byteOffset + start + end);
    tensors[name] = { dtype, shape, data: new arrays[dtype](copy) };
  }
  return tensors;
}
