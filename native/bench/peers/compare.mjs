// Ours and a peer on the same numbers, in turn: native/bench/peers/run calls this after it has built and installed what is needed.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { Contestant } from './contestant.mjs';
import { hasState, readTensor, relativeGap, writeInputs } from './inputs.mjs';
import { callsPerSample, summary } from './ratios.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, '../../..');
const packages = path.join(root, 'build/peers');
const node = [process.execPath, '--no-experimental-fetch'];

// Debian's own Python: another on the path has not Debian's packages.
const programs = {
  native: [path.join(root, 'build/native/native/bench/peers/linearmem_contestant')],
  wasm: [...node, path.join(root, 'build/wasm/wasm/bench/linearmem_wasm_contestant.js')],
  module: [...node, path.join(here, 'module.mjs'), path.join(root, 'build/wasm/wasm')],
  'onnxruntime-node': [process.execPath, path.join(here, 'onnxruntime.mjs'), packages, 'onnxruntime-node'],
  'onnxruntime-web': [process.execPath, path.join(here, 'onnxruntime.mjs'), packages, 'onnxruntime-web'],
  pytorch: ['/usr/bin/python3', path.join(here, 'pytorch.py')],
  openblas: [path.join(root, 'build/native/native/bench/peers/linearmem_gemm')],
};

const recurrent = ['linear-attention', 'gated-linear-attention', 'delta-rule', 'gated-delta-rule'];
const all = [...recurrent, 'softmax-attention'];

// ours and peer are programs; mechanisms what both have.
export const contests = {
  'onnxruntime-node': { ours: 'native', peer: 'onnxruntime-node', mechanisms: all },
  pytorch: { ours: 'native', peer: 'pytorch', mechanisms: all },
  'onnxruntime-web': { ours: 'wasm', peer: 'onnxruntime-web', mechanisms: all },
  'onnxruntime-web-module': { ours: 'module', peer: 'onnxruntime-web', mechanisms: all },
  native: { ours: 'wasm', peer: 'native', mechanisms: all },
  openblas: { ours: 'native', peer: 'openblas', mechanisms: ['gated-delta-rule'], gemm: 1024 },
};

const tolerance = 1e-5;

const usage = `usage: native/bench/peers/run [PEER...] [options]
  PEER               ${Object.keys(contests).join(', ')}; all when none is named
                     (onnxruntime-web-module: our module's run(); native: our WebAssembly beside our native program)
  --mechanism M      ${all.join(', ')}; may be repeated
  --tokens T         may be repeated (2048 and 1)
  --width K          key and value width; may be repeated (64 and 128)
  --heads H          16
  --rounds R         11
  --sample-ms MS     shortest sample (20)
  --processor-time   count the time each contestant ran, not the clock's: on a machine that others use
  --json             one JSON object per case`;

export function readWords(words) {
  const { values, positionals } = parseArgs({
    args: words, allowPositionals: true,
    options: {
      mechanism: { type: 'string', multiple: true, default: all }, tokens: { type: 'string', multiple: true, default: ['2048', '1'] },
      width: { type: 'string', multiple: true, default: ['64', '128'] }, heads: { type: 'string', default: '16' },
      rounds: { type: 'string', default: '11' }, 'sample-ms': { type: 'string', default: '20' },
      'processor-time': { type: 'boolean', default: false }, json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false },
    },
  });
  const number = (name, text) => {
    if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} is ${text}, must be a whole number above 0`);
    return Number(text);
  };
  const known = (what, name, names) => {
    if (!names.includes(name)) throw new Error(`no ${what} ${name}; there are ${names.join(', ')}`);
    return name;
  };
  return {
    help: values.help, json: values.json, heads: number('heads', values.heads), rounds: number('rounds', values.rounds),
    clock: values['processor-time'] ? 'processor' : 'wall', sample: number('sample-ms', values['sample-ms']) * 1e-3,
    peers: (positionals.length ? positionals : Object.keys(contests)).map((name) => known('peer', name, Object.keys(contests))),
    mechanisms: values.mechanism.map((name) => known('mechanism', name, all)),
    tokens: values.tokens.map((text) => number('tokens', text)), widths: values.width.map((text) => number('width', text)),
  };
}

// One token of softmax attention is its own value: there is nothing to compare. A gemm has no tokens.
export function casesOf({ mechanisms, gemm }, { mechanisms: wanted, tokens, widths, heads }) {
  return mechanisms.filter((name) => wanted.includes(name)).flatMap((mechanism) => tokens
    .filter((T) => T > 1 || (hasState(mechanism) && !gemm))
    .flatMap((T) => widths.map((width) => ({ mechanism, tokens: T, heads, width }))));
}

// Outputs against the definition's, computed in float64 from the same files.
export function prove(name, { mechanism }, folder) {
  const outputs = hasState(mechanism) ? ['o', 'final_state'] : ['o'];
  const gap = Math.max(...outputs.map((output) =>
    relativeGap(readTensor(folder, `${name}.${output}`), readTensor(folder, `reference.${output}`))));
  if (gap <= tolerance) return gap;
  const far = `it is ${gap.toExponential(1)} from the definition, allowed is ${tolerance}`;
  throw new Error(`${name}, ${mechanism}: no time is told: ${far}`);
}

// Nominal operations of one call, where rates are compared.
const flopsOf = ({ tokens, heads, width }) => 7 * tokens * heads * width * width;

async function contest(peerName, case_, { rounds, sample, clock }) {
  const { ours: oursName, peer: theirName, gemm } = contests[peerName];
  const folder = path.join(packages, 'case');
  rmSync(folder, { recursive: true, force: true });
  writeInputs(case_, folder);
  const { mechanism, tokens, heads, width } = case_;
  const reference = [mechanism, folder, 'reference', tokens, heads, width, 'reference'].map(String);
  execFileSync(programs.native[0], reference, { input: '', stdio: 'pipe' });
  const contestants = [];
  try {
    for (const [name, sizes] of [[oursName, case_], [theirName, gemm ? { ...case_, width: gemm } : case_]])
      contestants.push(await new Contestant(name, programs[name], sizes, folder, clock).start());
    const errors = contestants.map(({ name }) => (name === 'openblas' ? 0 : prove(name, case_, folder)));
    const calls = [];
    for (const contestant of contestants) calls.push(await callsPerSample((count) => contestant.seconds(count), sample));
    const times = [];
    for (let round = 0; round < rounds; round += 1) {
      const [ours, peer] = [await contestants[0].seconds(calls[0]), await contestants[1].seconds(calls[1])];
      times.push({ ours: ours / calls[0], peer: peer / calls[1] });
    }
    const work = gemm ? { ours: flopsOf(case_), peer: 2 * gemm ** 3 } : undefined;
    const [ours, peer] = contestants.map(({ about }) => about);
    return {
      contest: peerName, clock, ...case_, ours: ours.about, peer: peer.about, ours_call: ours.call, peer_call: peer.call, ours_error: errors[0], peer_error: errors[1],
      ...summary(times, work), ours_cold_seconds: ours.cold_seconds, peer_cold_seconds: peer.cold_seconds,
      peer_overhead_seconds: peer.overhead_seconds,
    };
  } finally {
    contestants.forEach((contestant) => contestant.end());
  }
}

const time = (seconds) => (seconds < 1e-3 ? `${(seconds * 1e6).toFixed(2)} us` : `${(seconds * 1e3).toFixed(2)} ms`);

function line(result) {
  const { mechanism, tokens, width, ratio, lowest, highest } = result;
  return `| ${[
    mechanism, tokens, width, time(result.ours_seconds), time(result.peer_seconds), ratio.toFixed(2),
    `${lowest.toFixed(2)} to ${highest.toFixed(2)}`,
    `${time(result.ours_cold_seconds)}, ${time(result.peer_cold_seconds)}`,
    result.peer_overhead_seconds === undefined ? '' : time(result.peer_overhead_seconds),
    `${result.ours_error.toExponential(0)}, ${result.peer_error.toExponential(0)}`, result.peer_call,
  ].join(' | ')} |`;
}

async function main() {
  const words = readWords(process.argv.slice(2));
  if (words.help) return console.log(usage);
  for (const peer of words.peers) {
    let said = words.json;
    for (const case_ of casesOf(contests[peer], words)) {
      const result = await contest(peer, case_, words);
      if (!said) console.log(`\n${peer}: ours is ${result.ours}, ${result.ours_call}; the peer is ${result.peer}\n\n` +
        '| mechanism | T | K V | ours | peer | ratio | lowest to highest | first calls | peer\'s empty call | errors | peer\'s call |\n' +
        '|---|---|---|---|---|---|---|---|---|---|---|');
      said = true;
      console.log(words.json ? JSON.stringify(result) : line(result));
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main().catch((error) => {
  console.error(`peers: ${error.message}`);
  process.exitCode = 2;
});
