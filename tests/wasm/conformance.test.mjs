// Every shipped conformance case through the module: both precisions, every form, every chunk size up to one past the length.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadModule, moduleFolder } from './load.mjs';
import { readSafetensors } from './safetensors.mjs';

const folder = fileURLToPath(new URL('../data/conformance/', import.meta.url));
const manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'));
const cases = Array.isArray(manifest) ? manifest : manifest.cases;
const module = await loadModule(moduleFolder);
const mechanisms = new Map(module.mechanisms().map((mechanism) => [mechanism.name, mechanism]));

function relativeDifference(got, expected) {
  let largest = 1;
  let difference = 0;
  assert.equal(got.length, expected.length);
  for (let i = 0; i < expected.length; ++i) {
    largest = Math.max(largest, Math.abs(expected[i]));
    const gap = Math.abs(got[i] - expected[i]);
    difference = Math.max(difference, gap);  // NaN stays NaN
  }
  return difference / largest;
}

function settingsOf(mechanism, tokens) {
  const list = ['automatic', ...mechanism.forms].map((form) => ({ form }));
  if (mechanism.forms.includes('chunked')) for (let chunk = 1; chunk <= tokens + 1; ++chunk) list.push({ form: 'chunked', chunk });
  return list;
}

for (const entry of cases) {
  test(entry.name, async () => {
    const mechanism = mechanisms.get(entry.mechanism);
    assert.ok(mechanism, `${entry.mechanism} is in the module`);
    const inputs = await readSafetensors(path.join(folder, `${entry.name}.in.safetensors`));
    const expected = await readSafetensors(path.join(folder, `${entry.name}.out.safetensors`));
    const tokens = inputs[mechanism.inputs[0].name].shape[1];
    for (const [dtype, tolerance] of [['f64', 1e-12], ['f32', 1e-5]])
      for (const { form, chunk } of settingsOf(mechanism, tokens)) {
        const outputs = module.run(entry.mechanism, inputs, { dtype, form, chunk, options: entry.options });
        for (const name of entry.outputs) {
          assert.deepEqual(outputs[name].shape, expected[name].shape);
          const difference = relativeDifference(outputs[name].data, expected[name].data);
          assert.ok(difference <= tolerance, `${name} in ${dtype}, ${form} ${chunk ?? ''}: off by ${difference}`);
        }
      }
  });
}
