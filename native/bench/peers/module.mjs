// Our own WebAssembly module through the function that a page calls: module.mjs MODULE_FOLDER MECHANISM FOLDER NAME T H K.
// Every call copies its tensors into the module and its results out of it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { delta, gated, hasState, readTensor, writeTensor } from './inputs.mjs';
import { now, readArguments, serve } from './contestant.mjs';

const [moduleFolder, ...words] = process.argv.slice(2);
const { case_: { mechanism, tokens, heads, width }, folder, name } = readArguments(words);
const { default: createLinearMem } = await import(pathToFileURL(path.join(moduleFolder, 'linearmem.mjs')));
const module = await createLinearMem({ wasmBinary: readFileSync(path.join(moduleFolder, 'linearmem.wasm')) });

const tensor = (file, shape) => ({ dtype: 'F32', shape, data: readTensor(folder, file) });
const tensors = Object.fromEntries(['q', 'k', 'v'].map((file) => [file, tensor(file, [1, tokens, heads, width])]));
if (delta(mechanism)) tensors.beta = tensor('beta', [1, tokens, heads]);
if (gated(mechanism)) tensors.g = tensor('g', [1, tokens, heads]);
if (hasState(mechanism)) tensors.state = tensor('state', [1, heads, width, width]);
const isLinear = mechanism.endsWith('linear-attention');
const settings = isLinear ? { options: { feature: 'identity', normalize: false } } : {};
const call = () => module.run(isLinear ? 'linear-attention' : mechanism, tensors, settings);

const begin = now();
const outputs = call();
const cold = now() - begin;
writeTensor(folder, `${name}.o`, outputs.o.data);
if (hasState(mechanism)) writeTensor(folder, `${name}.final_state`, outputs.state.data);
await serve({ about: { about: `linearmem.wasm ${module.buildId()}`, call: 'run()', cold_seconds: cold }, call });
