// The numbers that all contestants of a case get, as files of float32: drawn from the case's own seed, the same in every run.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const delta = (mechanism) => mechanism.endsWith('delta-rule');
export const gated = (mechanism) => mechanism.startsWith('gated');
export const hasState = (mechanism) => mechanism !== 'softmax-attention';

// A 32-bit generator (Marsaglia's xorshift); numbers above 0 and at most 1.
function uniform(seed) {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 1) / 2 ** 32;
  };
}

const normal = (draw) => () => Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw());
const filled = (count, draw) => Float32Array.from({ length: count }, draw);

// Rows of length 1, as keys of a delta rule are.
function unitRows(count, width, draw) {
  const rows = filled(count * width, draw);
  for (let first = 0; first < rows.length; first += width) {
    const row = rows.subarray(first, first + width);
    const length = Math.hypot(...row);
    row.forEach((value, i) => (row[i] = value / length));
  }
  return rows;
}

export function inputsOf({ mechanism, tokens, heads, width }) {
  const draw = uniform(20240901);
  const gauss = normal(draw);
  for (let i = 0; i < 64; i += 1) draw(); // away from a seed of few bits
  const count = tokens * heads;
  const pair = () => (hasState(mechanism) ? unitRows(count, width, gauss) : filled(count * width, gauss));
  const tensors = { q: pair(), k: pair(), v: filled(count * width, gauss) };
  if (delta(mechanism)) tensors.beta = filled(count, draw);
  if (gated(mechanism)) tensors.g = filled(count, () => -0.1 * draw());
  if (hasState(mechanism)) tensors.state = filled(heads * width * width, gauss);
  return tensors;
}

export function writeInputs(case_, folder) {
  mkdirSync(folder, { recursive: true });
  for (const [name, values] of Object.entries(inputsOf(case_))) writeFileSync(path.join(folder, `${name}.f32`), values);
}

export function readTensor(folder, name) {
  const bytes = readFileSync(path.join(folder, `${name}.f32`));
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

export const writeTensor = (folder, name, values) => writeFileSync(path.join(folder, `${name}.f32`), values);

// Largest difference relative to max(1, the largest expected); NaN where one is not a number, or where the sizes differ.
export function relativeGap(got, expected) {
  if (got.length !== expected.length) return NaN;
  let largest = 1;
  let gap = 0;
  for (let i = 0; i < expected.length; i += 1) {
    const here = Math.abs(got[i] - expected[i]);
    largest = Math.max(largest, Math.abs(expected[i]));
    gap = Math.max(gap, here); // NaN stays
  }
  return gap / largest;
}
