// ONNX Runtime's operators against `linearmem run --convention onnxruntime`: node operators.mjs PACKAGE_FOLDER LINEARMEM.
// Every update rule, gate and head map, and the convolution, on drawn numbers; fails where outputs or states are more than 1e-6 apart
// (relative, or absolute below 1). PACKAGE_FOLDER has onnxruntime-node in its node_modules; native/bench/peers/run makes build/peers one.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { oneNodeModel } from './model.mjs';

const [packages, command] = process.argv.slice(2);
if (!packages || !command) throw new Error('usage: node operators.mjs PACKAGE_FOLDER LINEARMEM');
const runtime = createRequire(path.join(path.resolve(packages), 'package.json'))('onnxruntime-node');
const folder = mkdtempSync(path.join(tmpdir(), 'linearmem-operators-'));
const farthest = 1e-6;

let seed = 7;
const draw = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
const tensor = (shape, low = -1, high = 1) =>
  ({ shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => low + (high - low) * draw()) });

function writeSafetensors(file, tensors) {
  const header = {};
  const parts = [];
  let offset = 0;
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
    parts.push(Buffer.from(data.buffer));
  }
  const words = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(words.length));
  writeFileSync(file, Buffer.concat([length, words, ...parts]));
}

function readSafetensors(file) {
  const bytes = readFileSync(file);
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, start));
  return Object.fromEntries(Object.entries(header).map(([name, { shape, data_offsets: [begin, end] }]) =>
    [name, { shape, data: new Float64Array(bytes.buffer.slice(bytes.byteOffset + start + begin, bytes.byteOffset + start + end)) }]));
}

async function difference({ mechanism, op, inputs, order, outputs, attributes }) {
  const model = oneNodeModel({
    op, domain: 'com.microsoft', outputs, attributes, inputs: order.map((name) => (inputs[name] ? { name, shape: inputs[name].shape } : '')),
  });
  const session = await runtime.InferenceSession.create(model, { logSeverityLevel: 3 });
  const theirs = await session.run(Object.fromEntries(Object.entries(inputs).map(([name, { shape, data }]) => [name, new runtime.Tensor('float32', data, shape)])));
  const [input, output] = ['in', 'out'].map((name) => path.join(folder, `${name}.safetensors`));
  writeSafetensors(input, inputs);
  const options = Object.entries(attributes).flatMap(([name, value]) => ['--set', `${name}=${value.float ?? value}`]);
  execFileSync(command, ['run', mechanism, '--convention', 'onnxruntime', '--input', input, '--output', output, '--dtype', 'f64', ...options]);
  const ours = readSafetensors(output);
  return Math.max(...outputs.flatMap(({ name }) => {
    if (String(ours[name].shape) !== String(theirs[name].dims)) throw new Error(`${name} is [${theirs[name].dims}] there, [${ours[name].shape}] here`);
    return Array.from(ours[name].data, (value, i) => Math.abs(value - theirs[name].data[i]) / Math.max(1, Math.abs(value)));
  }));
}

const rules = { linear: 'linear-attention', gated: 'linear-attention', delta: 'delta-rule', gated_delta: 'gated-delta-rule' };
const [B, T, K, V] = [2, 7, 5, 3];

function attentionCases() {
  const cases = [];
  for (const [rule, mechanism] of Object.entries(rules))
    for (const [Hq, Hk, Hkv] of [[2, 2, 2], [4, 2, 2], [2, 2, 4], [4, 1, 4], [2, 1, 4], [4, 1, 2]])
      for (const wide of rule.startsWith('gated') ? [false, true] : [false]) {
        const inputs = { query: tensor([B, T, Hq * K]), key: tensor([B, T, Hk * K], -0.4, 0.4), value: tensor([B, T, Hkv * V]), past_state: tensor([B, Hkv, K, V]) };
        if (rule.startsWith('gated')) inputs.decay = tensor([B, T, wide ? Hkv * K : Hkv], -1, -0.01);
        if (rule.endsWith('delta')) inputs.beta = tensor([B, T, wide ? 1 : Hkv], 0.1, 0.9);
        cases.push({
          mechanism, op: 'LinearAttention', inputs, order: ['query', 'key', 'value', 'past_state', 'decay', 'beta'].slice(0, rule.endsWith('delta') ? 6 : rule === 'gated' ? 5 : 4),
          outputs: [{ name: 'output', shape: [B, T, Math.max(Hq, Hkv) * V] }, { name: 'present_state', shape: [B, Hkv, K, V] }],
          attributes: { q_num_heads: Hq, kv_num_heads: Hkv, update_rule: rule, scale: { float: 0 } },
        });
      }
  return cases;
}

const convolutionCases = () => [{}, { activation: 'none' }, { activation: 'silu' }, { activation: 'swish' }].flatMap((attributes) => [2, 4].map((W) => ({
  mechanism: 'causal-conv', op: 'CausalConvWithState', attributes, order: ['input', 'weight', 'bias', 'past_state'],
  inputs: { input: tensor([B, 3, T]), weight: tensor([3, 1, W]), bias: tensor([3]), past_state: tensor([B, 3, W - 1]) },
  outputs: [{ name: 'output', shape: [B, 3, T] }, { name: 'present_state', shape: [B, 3, W - 1] }],
})));

try {
  let worst = 0;
  const cases = [...attentionCases(), ...convolutionCases()];
  for (const case_ of cases) {
    const apart = await difference(case_);
    if (!(apart <= farthest)) throw new Error(`${case_.mechanism} ${JSON.stringify(case_.attributes)}: ${apart} apart`);
    worst = Math.max(worst, apart);
  }
  console.log(`${cases.length} calls, at most ${worst.toExponential(1)} apart`);
} finally {
  rmSync(folder, { recursive: true });
}
