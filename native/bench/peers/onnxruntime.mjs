// ONNX Runtime as a contestant: onnxruntime.mjs PACKAGE_FOLDER onnxruntime-node|onnxruntime-web MECHANISM FOLDER NAME T H K.
// One thread. A call is session.run on tensors that are there already; its outputs are what it allocates.
import { createRequire } from 'node:module';
import path from 'node:path';
import { hasState, readTensor, writeTensor } from './inputs.mjs';
import { identityModel, modelOf } from './model.mjs';
import { now, readArguments, serve } from './contestant.mjs';
import { medianOf } from './ratios.mjs';

const [packages, packageName, ...words] = process.argv.slice(2);
const { case_, folder, name } = readArguments(words);
const require = createRequire(path.join(packages, 'package.json'));
const runtime = require(packageName);
if (packageName === 'onnxruntime-web') runtime.env.wasm.numThreads = 1;

const settings = {
  intraOpNumThreads: 1, interOpNumThreads: 1, executionProviders: [packageName === 'onnxruntime-web' ? 'wasm' : 'cpu'],
  graphOptimizationLevel: 'all', logSeverityLevel: 3,
};
const open = (model) => runtime.InferenceSession.create(model, settings);
const tensor = (values, shape) => new runtime.Tensor('float32', values, shape);

function feedsOf({ mechanism, tokens, heads, width }) {
  const rows = (file) => tensor(readTensor(folder, file), [1, tokens, heads * width]);
  const feeds = { query: rows('q'), key: rows('k'), value: rows('v') };
  if (hasState(mechanism)) feeds.past_state = tensor(readTensor(folder, 'state'), [1, heads, width, width]);
  if (mechanism.startsWith('gated')) feeds.decay = tensor(readTensor(folder, 'g'), [1, tokens, heads]);
  if (mechanism.endsWith('delta-rule')) feeds.beta = tensor(readTensor(folder, 'beta'), [1, tokens, heads]);
  return feeds;
}

// Seconds of a call in which nothing is computed: the median of samples of 50.
async function overhead() {
  const session = await open(identityModel());
  const feeds = { input: tensor(new Float32Array(1), [1]) };
  const times = [];
  for (let i = 0; i < 15; i += 1) {
    const begin = now();
    for (let call = 0; call < 50; call += 1) await session.run(feeds);
    times.push((now() - begin) / 50);
  }
  return medianOf(times);
}

const session = await open(modelOf(case_));
const feeds = feedsOf(case_);
const begin = now();
const outputs = await session.run(feeds);
const cold = now() - begin;
writeTensor(folder, `${name}.o`, outputs.output.data);
if (outputs.present_state) writeTensor(folder, `${name}.final_state`, outputs.present_state.data);
const { version } = require(path.join(packages, 'node_modules', packageName, 'package.json'));
const about = {
  about: `${packageName} ${version}`, call: case_.mechanism === 'softmax-attention' ? 'MultiHeadAttention' : 'LinearAttention',
  cold_seconds: cold, overhead_seconds: await overhead(),
};
await serve({ about, call: () => session.run(feeds) });
