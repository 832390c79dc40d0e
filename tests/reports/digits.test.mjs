// One registry, three places: the command line, the SIMD module and the scalar module report the same digits for every check.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadModule } from '../wasm/load.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const command = process.env.LINEARMEM_COMMAND ?? path.join(root, 'build/native/native/cli/linearmem');

const digitsOf = (results) => results.map(({ id, checks }) => [id, ...checks.map(({ quantity, digits }) => `${quantity}: ${digits}`)]);

function nativeReport() {
  return digitsOf(JSON.parse(execFileSync(command, ['verify', '--json'], { encoding: 'utf8' })).claims);
}

async function moduleReport(folder) {
  const module = await loadModule(path.join(root, 'build/wasm/wasm', folder));
  return digitsOf(module.claims().map(({ id }) => module.verify(id, [])));
}

test('native, WASM SIMD and WASM scalar print the same ten significant digits', async () => {
  const native = nativeReport();
  assert.ok(native.length >= 24);
  assert.deepEqual(await moduleReport('.'), native);
  assert.deepEqual(await moduleReport('scalar'), native);
});
