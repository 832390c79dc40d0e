// The benchmark as WebAssembly: every mechanism proven and timed with a cold and a warm call; no time is judged.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('../../wasm/bench/run.mjs', import.meta.url));
const small = ['--wasm', process.env.LINEARMEM_WASM_BENCH, '--native', 'none', '--turns', '1', '--rounds', '2', '--tokens', '20', '--heads', '2',
  '--width', '8', '--sample-ms', '0.02', '--state-mib', '1'];

const run = (words) => promisify(execFile)(process.execPath, [script, ...small, ...words]);

test('every mechanism has a line for each setting it has', async () => {
  const { stdout } = await run(['--json', '--setting', 'prefill', '--setting', 'cached', '--setting', 'tiny']);
  const cases = stdout.trim().split('\n').map((text) => JSON.parse(text));
  assert.equal(cases.length, 10 + 9 + 10);
  assert.equal(new Set(cases.map((case_) => case_.mechanism)).size, 10);
  for (const case_ of cases) {
    assert.ok(case_.cold_seconds > 0 && case_.seconds > 0, JSON.stringify(case_));
    assert.ok(case_.median_seconds >= case_.seconds, JSON.stringify(case_));
    assert.equal(case_.fraction > 0, case_.limit !== 'none', JSON.stringify(case_));
  }
});

test('the table, and a refusal', async () => {
  const { stdout } = await run(['ssd', '--setting', 'prefill', '--processor-time']);
  assert.match(stdout, /\n\| ssd \| prefill \| T 20, H 2, K V 8 \| .* GFLOP\/s \| \d+ % of /);
  await assert.rejects(run(['ssd2']), (error) => error.code === 2 && /no benchmark of mechanism "ssd2"/.test(error.stderr));
});
