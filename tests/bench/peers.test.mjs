// What stands between the numbers of a contest and its table, without any peer: the model file, the inputs, the proof, the ratios, and our
// own contestant.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { casesOf, contests, prove, readWords } from '../../native/bench/peers/compare.mjs';
import { Contestant } from '../../native/bench/peers/contestant.mjs';
import { inputsOf, readTensor, relativeGap, writeInputs, writeTensor } from '../../native/bench/peers/inputs.mjs';
import { identityModel, modelOf, oneNodeModel } from '../../native/bench/peers/model.mjs';
import { callsPerSample, medianOf, summary } from '../../native/bench/peers/ratios.mjs';

const contestant = process.env.LINEARMEM_CONTESTANT;
const mechanisms = ['linear-attention', 'gated-linear-attention', 'delta-rule', 'gated-delta-rule', 'softmax-attention'];

// Protobuf's wire format, read by its own rules: a list of [field number, value], counted bytes as they are.
function fieldsOf(bytes) {
  const fields = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      assert.ok(byte !== undefined, 'a varint ends within its message');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return Number(BigInt.asIntN(64, value));
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const begin = at;
    if ((tag & 7) === 0) fields.push([tag >> 3, varint()]);
    else if ((tag & 7) === 5) {
      at += 4;
      fields.push([tag >> 3, new DataView(bytes.buffer, bytes.byteOffset + begin, 4).getFloat32(0, true)]);
    } else if ((tag & 7) === 2) {
      const count = varint();
      fields.push([tag >> 3, bytes.subarray(at, (at += count))]);
    } else assert.fail(`wire type ${tag & 7}`);
  }
  assert.equal(at, bytes.length, 'a field ends within its message');
  return fields;
}

const all = (fields, number) => fields.filter(([found]) => found === number).map(([, value]) => value);
const one = (fields, number) => {
  const found = all(fields, number);
  assert.equal(found.length, 1, `field ${number}`);
  return found[0];
};
const words = (bytes) => new TextDecoder().decode(bytes);

// The numbers of onnx.proto3: ModelProto, GraphProto, NodeProto, AttributeProto, ValueInfoProto.
function decoded(model) {
  const top = fieldsOf(model);
  const graph = fieldsOf(one(top, 7));
  const node = fieldsOf(one(graph, 1));
  const attributes = all(node, 5).map(fieldsOf).map((fields) => {
    const [field, kind] = { 1: [2, 'float'], 2: [3, 'int'], 3: [4, 'string'] }[one(fields, 20)];
    const value = one(fields, field);
    return [words(one(fields, 1)), kind, kind === 'string' ? words(value) : value];
  });
  const values = (number) => all(graph, number).map(fieldsOf).map((fields) => {
    const tensor = fieldsOf(one(fieldsOf(one(fields, 2)), 1));
    assert.equal(one(tensor, 1), 1, 'float32');
    return [words(one(fields, 1)), all(fieldsOf(one(tensor, 2)), 1).map((size) => one(fieldsOf(size), 1))];
  });
  return {
    version: one(top, 1), sets: all(top, 8).map(fieldsOf).map((fields) => [words(one(fields, 1)), one(fields, 2)]),
    op: words(one(node, 4)), domain: words(one(node, 7)), nodeInputs: all(node, 1).map(words), nodeOutputs: all(node, 2).map(words),
    attributes, inputs: values(11), outputs: values(12),
  };
}

test('the gated delta rule as an ONNX model', () => {
  assert.deepEqual(decoded(modelOf({ mechanism: 'gated-delta-rule', tokens: 300, heads: 4, width: 64 })), {
    version: 8, sets: [['', 17], ['com.microsoft', 1]], op: 'LinearAttention', domain: 'com.microsoft',
    nodeInputs: ['query', 'key', 'value', 'past_state', 'decay', 'beta'], nodeOutputs: ['output', 'present_state'],
    attributes: [['q_num_heads', 'int', 4], ['kv_num_heads', 'int', 4], ['update_rule', 'string', 'gated_delta'], ['scale', 'float', 0.125]],
    inputs: [
      ['query', [1, 300, 256]], ['key', [1, 300, 256]], ['value', [1, 300, 256]], ['past_state', [1, 4, 64, 64]], ['decay', [1, 300, 4]],
      ['beta', [1, 300, 4]],
    ],
    outputs: [['output', [1, 300, 256]], ['present_state', [1, 4, 64, 64]]],
  });
});

test('the other rules: what they lack, and where', () => {
  const model = (mechanism) => decoded(modelOf({ mechanism, tokens: 2, heads: 1, width: 16 }));
  assert.deepEqual(model('delta-rule').nodeInputs, ['query', 'key', 'value', 'past_state', '', 'beta']);
  assert.equal(model('delta-rule').inputs.length, 5);
  assert.deepEqual(model('linear-attention').nodeInputs, ['query', 'key', 'value', 'past_state']);
  assert.deepEqual(model('linear-attention').attributes.at(-1), ['scale', 'float', 1]);
  assert.deepEqual(model('gated-linear-attention').nodeInputs.at(-1), 'decay');
  assert.deepEqual(model('softmax-attention').attributes, [['num_heads', 'int', 1], ['unidirectional', 'int', 1]]);
  assert.throws(() => modelOf({ mechanism: 'ssd', tokens: 2, heads: 1, width: 16 }), /ONNX Runtime has no ssd/);
  assert.equal(decoded(identityModel()).op, 'Identity');
});

test('numbers of more than one byte, and below 0', () => {
  const model = decoded(oneNodeModel({
    op: 'X', domain: '', inputs: [{ name: 'a'.repeat(200), shape: [2 ** 40] }], outputs: [{ name: 'y', shape: [] }],
    attributes: { minus: -3 },
  }));
  assert.deepEqual(model.inputs, [['a'.repeat(200), [2 ** 40]]]);
  assert.deepEqual(model.attributes, [['minus', 'int', -3]]);
  assert.throws(() => oneNodeModel({ op: 'X', domain: '', inputs: [], outputs: [], attributes: { half: 0.5 } }), /attribute half is 0.5/);
});

test('ratios are of each round, and of rates where the work differs', () => {
  assert.equal(medianOf([4, 1, 3]), 3);
  assert.equal(medianOf([4, 1, 3, 2]), 2.5);
  const rounds = [{ ours: 1, peer: 4 }, { ours: 2, peer: 6 }, { ours: 2, peer: 20 }];
  assert.deepEqual(summary(rounds), { ours_seconds: 2, peer_seconds: 6, ratio: 4, lowest: 3, highest: 10, rounds: 3 });
  assert.equal(summary([{ ours: 1, peer: 2 }], { ours: 10, peer: 40 }).ratio, 0.5); // 10 per second beside 20 per second
});

test('a sample is as many calls as take long enough twice', async () => {
  const asked = [];
  const times = { 1: [0.1], 2: [0.3, 0.1], 4: [0.3, 0.3] };
  assert.equal(await callsPerSample(async (calls) => (asked.push(calls), times[calls].shift()), 0.2), 4);
  assert.deepEqual(asked, [1, 2, 2, 4, 4]);
});

test('the gap sees sizes and what is no number', () => {
  assert.equal(relativeGap([1, 2], [1, 4]), 0.5);
  assert.equal(relativeGap([0.25], [0.5]), 0.25); // relative to 1 at least
  assert.ok(Number.isNaN(relativeGap([1, NaN], [1, 1])) && Number.isNaN(relativeGap([1], [1, 1])));
});

test('inputs are the same in every run, keys of length 1, gates and strengths in their ranges', () => {
  const case_ = { mechanism: 'gated-delta-rule', tokens: 40, heads: 3, width: 16 };
  const tensors = inputsOf(case_);
  assert.deepEqual(tensors, inputsOf(case_));
  assert.deepEqual(Object.keys(tensors), ['q', 'k', 'v', 'beta', 'g', 'state']);
  for (let row = 0; row < 120; row += 1) assert.ok(Math.abs(Math.hypot(...tensors.k.subarray(row * 16, row * 16 + 16)) - 1) < 1e-6);
  assert.ok(tensors.beta.every((value) => value > 0 && value <= 1) && tensors.g.every((value) => value < 0 && value >= -0.1));
  const mean = tensors.v.reduce((sum, value) => sum + value, 0) / tensors.v.length;
  const square = tensors.v.reduce((sum, value) => sum + value * value, 0) / tensors.v.length;
  assert.ok(Math.abs(mean) < 0.1 && Math.abs(square - 1) < 0.15, `${mean} ${square}`);
});

test('words of the command line', () => {
  const asked = readWords(['onnxruntime-node', '--mechanism', 'delta-rule', '--mechanism', 'softmax-attention', '--tokens', '64', '--tokens', '1']);
  assert.deepEqual(asked.peers, ['onnxruntime-node']);
  assert.deepEqual(casesOf(contests['onnxruntime-node'], asked).map(({ mechanism, tokens, width }) => [mechanism, tokens, width]), [
    ['delta-rule', 64, 64], ['delta-rule', 64, 128], ['delta-rule', 1, 64], ['delta-rule', 1, 128],
    ['softmax-attention', 64, 64], ['softmax-attention', 64, 128],
  ]);
  assert.throws(() => readWords(['onnx']), /no peer onnx; there are onnxruntime-node, /);
  assert.throws(() => readWords(['--mechanism', 'ssd']), /no mechanism ssd; there are /);
  assert.throws(() => readWords(['--rounds', '0']), /--rounds is 0, must be a whole number above 0/);
});

function inFolder(act) {
  const folder = mkdtempSync(path.join(tmpdir(), 'linearmem-contest-'));
  return Promise.resolve(act(folder)).finally(() => rmSync(folder, { recursive: true }));
}

test('our contestant computes what the definition says, and counts its seconds', () => inFolder(async (folder) => {
  for (const mechanism of mechanisms) {
    const case_ = { mechanism, tokens: 37, heads: 2, width: 24 };
    writeInputs(case_, folder);
    execFileSync(contestant, [mechanism, folder, 'reference', '37', '2', '24', 'reference'], { input: '' });
    const ours = await new Contestant('native', [contestant], case_, folder).start();
    assert.ok(ours.about.cold_seconds > 0 && /^linearmem .*, target /.test(ours.about.about), JSON.stringify(ours.about));
    assert.ok(prove('native', case_, folder) <= 1e-5);
    assert.ok(await ours.seconds(2) > 0);
    ours.end();
    const wrong = readTensor(folder, 'native.o');
    wrong[wrong.length - 1] += 1e-3;
    writeTensor(folder, 'native.o', wrong);
    assert.throws(() => prove('native', case_, folder), new RegExp(`native, ${mechanism}: no time is told: it is `));
  }
}));

test('a contestant that cannot go on is told in its own words', () => inFolder(async (folder) => {
  const case_ = { mechanism: 'delta-rule', tokens: 3, heads: 1, width: 4 };
  writeInputs(case_, folder);
  writeFileSync(path.join(folder, 'beta.f32'), new Float32Array(2));
  const start = (given) => new Contestant('native', [contestant], given, folder).start();
  await assert.rejects(start(case_), /linearmem_contestant ended with 2: contestant: .*beta\.f32: 12 bytes are needed, it has 8/);
  await assert.rejects(start({ ...case_, mechanism: 'ssd' }), /there is no contest of ssd/);
}));
