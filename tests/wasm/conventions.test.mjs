// Another library's tensors go in and out under their own names and in their own order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadModule, moduleFolder } from './load.mjs';

const module = await loadModule(moduleFolder);
const tensor = (shape, data) => ({ dtype: 'F64', shape, data: new Float64Array(data) });

// One token, one state for two query heads, K = V = 2: S = [[1, 2], [3, 4]] halved, then row 0 pulled halfway to v = [5, 6].
const inputs = {
  query: tensor([1, 1, 4], [1, 0, 0, 1]), key: tensor([1, 1, 2], [1, 0]), value: tensor([1, 1, 2], [5, 6]),
  past_state: tensor([1, 1, 2, 2], [1, 2, 3, 4]), decay: tensor([1, 1, 1], [Math.log(0.5)]), beta: tensor([1, 1, 1], [0.5]),
};
const options = { q_num_heads: 2, kv_num_heads: 1, scale: 1 };

test('the gated delta rule with tensors as ONNX has them', () => {
  const outputs = module.run('gated-delta-rule', inputs, { convention: 'onnx', options });
  assert.deepEqual(Object.keys(outputs).sort(), ['output', 'present_state']);
  assert.deepEqual(Array.from(outputs.present_state.data), [2.75, 3.5, 1.5, 2]);
  assert.deepEqual(outputs.present_state.shape, [1, 1, 2, 2]);
  assert.deepEqual(Array.from(outputs.output.data), [2.75, 3.5, 1.5, 2]);
});

test('the same state value first, with the decay as a factor, as mlx has it', () => {
  const outputs = module.run('gated-delta-rule', {
    q: tensor([1, 1, 1, 2], [1, 0]), k: tensor([1, 1, 1, 2], [1, 0]), v: tensor([1, 1, 1, 2], [5, 6]),
    state: tensor([1, 1, 2, 2], [1, 3, 2, 4]), g: tensor([1, 1, 1], [0.5]), beta: tensor([1, 1, 1], [0.5]),
  }, { convention: 'mlx' });
  assert.deepEqual(Array.from(outputs.state.data), [2.75, 1.5, 3.5, 2]);
  assert.deepEqual(Array.from(outputs.y.data), [2.75, 3.5]);
});

test('refusals name the convention, and ours is the default', () => {
  const refused = (call, sentence) => assert.throws(call, (error) => error instanceof Error && error.message === sentence);
  refused(() => module.run('delta-rule', inputs, { convention: 'onnx', options }), 'onnx delta-rule: decay is given, but update_rule delta takes none');
  refused(() => module.run('ssd', inputs, { convention: 'onnx' }),
    'convention onnx has no ssd; it has linear-attention, delta-rule, gated-delta-rule, causal-conv');
  assert.throws(() => module.run('ssd', inputs, { convention: 'onnyx' }), /unknown convention "onnyx"; known are linearmem, fla, onnx, /);
  assert.equal(module.conventions()[0].name, 'linearmem');
  assert.equal(module.conventions()[0].mechanisms.length, module.mechanisms().length);
});
