// A model of one node as the bytes of an ONNX file, written field by field: protobuf's wire format with the numbers of onnx.proto3.
//
// A message is a list of fields; a field is a tag (number << 3 | wire type) and a varint (type 0), four bytes (5) or counted bytes (2).

const bytesOfVarint = (value) => {
  const bytes = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)];
    bytes.push(Number(rest & 127n) | 128);
  }
};

const varint = (number, value) => [...bytesOfVarint(number << 3), ...bytesOfVarint(value)];
const counted = (number, bytes) => [...bytesOfVarint((number << 3) | 2), ...bytesOfVarint(bytes.length), ...bytes];
const text = (number, words) => counted(number, [...new TextEncoder().encode(words)]);
const float = (number, value) => [...bytesOfVarint((number << 3) | 5), ...new Uint8Array(new Float32Array([value]).buffer)];

const attributeTypes = { float: 1, int: 2, string: 3 };

// A whole number becomes an int attribute, so a float one is told apart by its kind: { float: 1 }.
function attribute(name, value) {
  if (typeof value === 'string') return [...text(1, name), ...text(4, value), ...varint(20, attributeTypes.string)];
  if (Number.isInteger(value)) return [...text(1, name), ...varint(3, value), ...varint(20, attributeTypes.int)];
  if (typeof value?.float === 'number') return [...text(1, name), ...float(2, value.float), ...varint(20, attributeTypes.float)];
  throw new Error(`attribute ${name} is ${JSON.stringify(value)}, must be a string, a whole number or { float }`);
}

// A float32 tensor of known sizes: ValueInfoProto of a name and a type, elem_type 1.
function valueInfo({ name, shape }) {
  const sizes = shape.flatMap((size) => counted(1, varint(1, size)));
  return [...text(1, name), ...counted(2, counted(1, [...varint(1, 1), ...counted(2, sizes)]))];
}

// node: { op, domain, inputs, outputs, attributes }; inputs and outputs: { name, shape }. An input that the node has no use for is ''.
export function oneNodeModel({ op, domain, inputs, outputs, attributes = {} }) {
  const node = [
    ...inputs.flatMap((input) => text(1, input === '' ? '' : input.name)), ...outputs.flatMap(({ name }) => text(2, name)),
    ...text(3, 'node'), ...text(4, op),
    ...Object.entries(attributes).flatMap(([name, value]) => counted(5, attribute(name, value))), ...text(7, domain),
  ];
  const graph = [
    ...counted(1, node), ...text(2, 'graph'),
    ...inputs.filter((input) => input !== '').flatMap((input) => counted(11, valueInfo(input))),
    ...outputs.flatMap((output) => counted(12, valueInfo(output))),
  ];
  const sets = [['', 17], ['com.microsoft', 1]].flatMap(([name, version]) => counted(8, [...text(1, name), ...varint(2, version)]));
  return Uint8Array.from([...varint(1, 8), ...text(2, 'linearmem'), ...counted(7, graph), ...sets]);
}

const updateRules = {
  'linear-attention': 'linear', 'gated-linear-attention': 'gated', 'delta-rule': 'delta', 'gated-delta-rule': 'gated_delta',
};

// The same mechanism as ONNX Runtime has it; a case is { mechanism, tokens, heads, width }.
export function modelOf({ mechanism, tokens, heads, width }) {
  const rows = (name) => ({ name, shape: [1, tokens, heads * width] });
  const perToken = (name) => ({ name, shape: [1, tokens, heads] });
  const states = (name) => ({ name, shape: [1, heads, width, width] });
  const domain = 'com.microsoft';
  if (mechanism === 'softmax-attention') {
    return oneNodeModel({
      op: 'MultiHeadAttention', domain, inputs: [rows('query'), rows('key'), rows('value')], outputs: [rows('output')],
      attributes: { num_heads: heads, unidirectional: 1 },
    });
  }
  const rule = updateRules[mechanism];
  if (!rule) throw new Error(`ONNX Runtime has no ${mechanism}`);
  const gated = rule.startsWith('gated');
  const delta = rule.endsWith('delta');
  return oneNodeModel({
    op: 'LinearAttention', domain,
    inputs: [
      rows('query'), rows('key'), rows('value'), states('past_state'), ...(gated ? [perToken('decay')] : delta ? [''] : []),
      ...(delta ? [perToken('beta')] : []),
    ],
    outputs: [rows('output'), states('present_state')],
    attributes: {
      q_num_heads: heads, kv_num_heads: heads, update_rule: rule, scale: { float: delta ? width ** -0.5 : 1 },
    },
  });
}

// What a call costs in which nothing is computed.
export const identityModel = () => oneNodeModel({
  op: 'Identity', domain: '', inputs: [{ name: 'input', shape: [1] }], outputs: [{ name: 'output', shape: [1] }],
});
