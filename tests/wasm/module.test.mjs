// The live module against its hand-written types, its refusals, and copies that outlive memory growth.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { loadModule, moduleFolder } from './load.mjs';

const module = await loadModule(moduleFolder);
const types = await readFile(new URL('../../wasm/linearmem.d.ts', import.meta.url), 'utf8');

// Member names of one interface; nested object types on one line count as one member.
function membersOf(name) {
  const body = types.match(new RegExp(`export interface ${name} \\{\\n([\\s\\S]*?)\\n\\}`))[1];
  return body.split('\n').map((line) => line.match(/^ {2}(\w+)\??[(:]/)?.[1]).filter(Boolean).sort();
}

// What Emscripten's own glue leaves on the module object.
const runtimeOwn = /^(_|print|ready$|dynCall|locateFile$|onAbort$|inspect$|BindingError$|InternalError$|UnboundTypeError$|count_emval_handles$|get_first_emval$|setDelayFunction$|flushPendingDeletes$|getInheritedInstanceCount$|getLiveInheritedInstances$|PureVirtualError$|asm$)/;

const keys = (object) => Object.keys(object).sort();

test('the module has exactly the declared functions', () => {
  const declared = membersOf('LinearMemModule');
  for (const name of declared) assert.equal(typeof module[name], 'function', `${name} is declared and missing`);
  const own = Object.keys(module).filter((name) => typeof module[name] === 'function' && !runtimeOwn.test(name));
  assert.deepEqual(own.sort(), declared);
});

test('every object has exactly the declared fields', () => {
  const claim = module.verify('LM05', []);
  const experiment = module.experiments()[0];
  const figure = module.experiment(experiment.name, {});
  const outputs = module.run('delta-rule', deltaInputs(), {});
  const ledger = module.ledger('Qwen3-Next-80B-A3B', '', {});
  const onnx = module.conventions().find(({ name }) => name === 'onnx');
  const samples = {
    Ledger: ledger, LedgerRow: ledger.rows[0], TrainingRow: ledger.training[0], LedgerModel: module.ledgerModels()[0],
    ClaimInfo: module.claims()[0], MistakeInfo: module.mistakes()[0], ClaimResult: claim, Check: claim.checks[0], ExperimentInfo: experiment,
    SettingSpec: experiment.settings[0], Figure: figure, Panel: figure.panels[0], Axis: figure.panels[0].x, Series: figure.panels[0].series[0],
    Band: module.experiment('least-squares', { key_width: 2 }).panels[0].bands[0],
    MechanismInfo: module.mechanisms()[0], Tensor: outputs.o, ConventionInfo: onnx, ConventionMechanism: onnx.mechanisms[0],
    ConventionTensor: onnx.mechanisms[0].inputs[0], ConventionDifference: onnx.mechanisms[0].differences[0],
  };
  for (const [name, object] of Object.entries(samples)) assert.deepEqual(keys(object), membersOf(name), name);
});

test('the ledger of a name, of a configuration, and its refusals', () => {
  const named = module.ledger('Qwen3-Next-80B-A3B', '', { context: 262144, device_gib: 80 });
  assert.deepEqual(named.rows.map(({ kind, tokenBytes, stateBytes, convBytes, breakEven }) => [kind, tokenBytes, stateBytes, convBytes, breakEven]),
    [['gated-delta-rule', 0, 2097152, 49152, 1048], ['grouped-query-attention', 2048, 0, 0, null]]);
  assert.equal(named.requestsFit, 13);
  const config = '{"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"x":Infinity}';
  const read = module.ledger('mine.json', config, { context: 10, batch: 3 });
  assert.equal(read.model, 'mine.json');
  assert.equal(read.batchBytes, 3 * 2 * 10 * 128 * 2);
  assert.deepEqual(read.assumed, [{ rule: 'value', field: 'num_key_value_heads', number: 4 }]);
  const refused = (text, settings = {}) => {
    try { module.ledger('mine.json', text, settings); } catch (problem) { return problem.message; }
    return 'not refused';
  };
  assert.equal(refused('[['), 'config: offset 2: the text ends where a value should stand');
  assert.equal(refused('['.repeat(10 << 20)), 'config: it has 10485760 bytes, at most 4194304 are read');
  assert.equal(refused('{"a":'.repeat(800000)), 'config: offset 160: nested more than 32 deep');
  assert.equal(refused(config.replace('2', '1000000000').replace('hidden_size":64', 'hidden_size":64')).startsWith('config: model_type llama: '), true);
  assert.equal(refused(config, { context: 0 }), 'ledger: context is 0, must be from 1 to 1.67772e+07');
  assert.equal(module.ledger('mine.json', config, {}).rows.length, 1);
});

test('the target and build id are those of this build', async () => {
  assert.equal(module.target(), process.env.LINEARMEM_MODULE_TARGET);
  assert.equal(module.buildId(), (await readFile(path.join(moduleFolder, 'build-id.txt'), 'utf8')).trim());
});

test('all claims hold, and each mistake fells the claims that name it', () => {
  for (const claim of module.claims()) {
    const result = module.verify(claim.id, []);
    assert.ok(result.pass, `${claim.id}: ${JSON.stringify(result.checks.filter((check) => !check.pass))}`);
    for (const mistake of claim.mistakes) assert.equal(module.verify(claim.id, [mistake]).pass, false, `${claim.id} under ${mistake}`);
  }
});

function deltaInputs() {
  const tensor = (shape, fill) => ({ dtype: 'F64', shape, data: new Float64Array(shape.reduce((a, b) => a * b, 1)).fill(fill) });
  return { q: tensor([1, 2, 1, 3], 1), k: tensor([1, 2, 1, 3], 0.5), v: tensor([1, 2, 1, 2], 2), beta: tensor([1, 2, 1], 1) };
}

test('a refusal is an Error with the sentence of the core, and the module works on', () => {
  const wrongK = { ...deltaInputs(), k: { dtype: 'F64', shape: [1, 2, 1, 4], data: new Float64Array(8) } };
  const refusals = [
    [() => module.run('delta-rule', wrongK, {}), /K differs: q has 3, k has 4/],
    [() => module.run('delta-rulez', deltaInputs(), {}), /delta-rulez/],
    [() => module.run('delta-rule', deltaInputs(), { form: 'fast' }), /form fast/],
    [() => module.run('delta-rule', deltaInputs(), { chunks: 3 }), /chunks is not one of/],
    [() => module.run('delta-rule', { ...deltaInputs(), q: { dtype: 'F64', shape: [1, 2, 1, 3], data: new Float32Array(6) } }, {}), /Float64Array, given Float32Array/],
    [() => module.run('delta-rule', { ...deltaInputs(), q: { dtype: 'F64', shape: [1, 2, 1, 3], data: new Float64Array(5) } }, {}), /48 bytes, data has 40/],
    [() => module.run('delta-rule', { ...deltaInputs(), q: { dtype: 'F64', shape: [17, 16384, 8192, 4], data: new Float64Array(1) } }, {}), /73014444032 bytes/],
    [() => module.run('delta-rule', { ...deltaInputs(), q: null }, {}), /q: a tensor is \{dtype, shape, data\}/],
    [() => module.run('delta-rule', { ...deltaInputs(), q: { dtype: 'F64', shape: [1, 2, 1, 3] } }, {}), /Float64Array, given nothing/],
    [() => module.run('delta-rule', { ...deltaInputs(), q: { dtype: 'BF16', shape: [1], data: new Uint8Array(2) } }, {}), /dtype BF16 is not one of F64, /],
    [() => module.run('delta-rule', { ...deltaInputs(), q: { dtype: 'F64', shape: [1, 2.5], data: new Float64Array(3) } }, {}), /shape has 2\.5/],
    [() => module.run('delta-rule', { ...deltaInputs(), q: { dtype: 'F64', shape: [1, '2'], data: new Float64Array(2) } }, {}), /an entry that is not a number/],
    [() => module.run('delta-rule', { ...deltaInputs(), q: { dtype: 'F64', shape: new Array(9).fill(1), data: new Float64Array(1) } }, {}), /shape has 9 axes, at most 8/],
    [() => module.verify('LM99', []), /claim LM99 is not known/],
    [() => module.verify('LM03', ['haste']), /mistake haste is not one of/],
    [() => module.experiment('memory-tradeoff', { beta: 3 }), /beta is 3, must be from 0 to 2/],
  ];
  for (const [call, sentence] of refusals) assert.throws(call, (error) => error instanceof Error && sentence.test(error.message));
  assert.ok(module.verify('LM08', []).pass);
});

test('a tensor may be a stretch of a larger buffer, and of each type', () => {
  const plain = module.run('delta-rule', deltaInputs(), {});
  const inputs = deltaInputs();
  const large = new Float64Array(20).fill(7);
  large.set(inputs.k.data, 5);
  const within = module.run('delta-rule', { ...inputs, k: { ...inputs.k, data: large.subarray(5, 11) } }, {});
  assert.deepEqual(within, plain);
  const packed = { ...inputs, cu_seqlens: { dtype: 'I64', shape: [3], data: new BigInt64Array([0n, 1n, 2n]) } };
  assert.deepEqual(module.run('delta-rule', packed, {}).state.shape, [2, 1, 3, 2]);
  const mask = { dtype: 'BOOL', shape: [1, 2], data: new Uint8Array([1, 0]) };
  const { q, k, v } = inputs;
  const masked = module.run('linear-attention', { q, k, v, key_mask: mask }, {});
  assert.notDeepEqual(masked.o.data, module.run('linear-attention', { q, k, v }, {}).o.data);
});

test('arrays handed out keep their numbers when memory grows', () => {
  const before = module.run('delta-rule', deltaInputs(), {}).state.data;
  const copy = Array.from(before);
  const T = 1 << 19;
  const tensor = (shape) => ({ dtype: 'F32', shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)) });
  module.run('delta-rule', { q: tensor([1, T, 1, 8]), k: tensor([1, T, 1, 8]), v: tensor([1, T, 1, 8]), beta: tensor([1, T, 1]) }, {});
  assert.deepEqual(Array.from(before), copy);
});

test('an allocation past the maximum is an Error, and the module works on', () => {
  const zeros = { dtype: 'F32', shape: [1, 1, 1, 1 << 14], data: new Float32Array(1 << 14) };
  const beta = { dtype: 'F32', shape: [1, 1, 1], data: new Float32Array(1) };
  assert.throws(() => module.run('delta-rule', { q: zeros, k: zeros, v: zeros, beta }, {}), /memory|bytes/);
  assert.ok(module.verify('LM08', []).pass);
});
