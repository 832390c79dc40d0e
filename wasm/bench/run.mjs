// node wasm/bench/run.mjs [MECHANISM...]: the benchmark as WebAssembly under Node beside the native one, the same cases in one run.
//
// Every case runs in a process of its own, so that its first call is a cold one: the browser's compiler has seen nothing of it. Native and
// WebAssembly processes take turns, so that a slow moment of the machine meets both; the ratio is taken turn by turn.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

const usage = `usage: node wasm/bench/run.mjs [MECHANISM...] [options]
  --setting S        prefill, short, decode, cached, tiny, or search and batch of knn; may be repeated (prefill and cached)
  --width W          key and value width; may be repeated (64 and 128)
  --tokens T --heads H --rounds R --state-mib M --sample-ms MS --processor-time
                     as in linearmem bench
  --turns N          processes of each kind (3)
  --wasm FILE        the WebAssembly benchmark (build/wasm/wasm/bench/linearmem_wasm_bench.js)
  --native FILE      the native program (build/native/native/cli/linearmem); none: WebAssembly alone
  --json             one JSON object per case`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    setting: { type: 'string', multiple: true, default: ['prefill', 'cached'] },
    width: { type: 'string', multiple: true, default: ['64', '128'] },
    tokens: { type: 'string' },
    heads: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    'state-mib': { type: 'string' },
    'sample-ms': { type: 'string' },
    'processor-time': { type: 'boolean', default: false },
    turns: { type: 'string', default: '3' },
    wasm: { type: 'string', default: path.join(root, 'build/wasm/wasm/bench/linearmem_wasm_bench.js') },
    native: { type: 'string', default: path.join(root, 'build/native/native/cli/linearmem') },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const everyMechanism = [
  'softmax-attention', 'linear-attention', 'linear-attention-normalized', 'gated-linear-attention', 'delta-rule', 'gated-delta-rule',
  'selective-scan', 'mamba-scan', 'ssd', 'causal-conv',
];

// What a program prints on standard output, or an error with what it prints on standard error.
function output(program, words) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (piece) => (out += piece));
    child.stderr.on('data', (piece) => (err += piece));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(out);
      else reject(new Error(`${path.basename(program)} ended with ${code}: ${err.trim()}`));
    });
  });
}

function wordsOf(mechanism, setting, width) {
  const words = [mechanism, '--setting', setting, '--width', width, '--rounds', values.rounds];
  for (const name of ['tokens', 'heads', 'state-mib', 'sample-ms']) if (values[name]) words.push(`--${name}`, values[name]);
  return values['processor-time'] ? [...words, '--processor-time'] : words;
}

// Emscripten's start-up code takes files for addresses where Node has a fetch of its own.
const runWasm = async (words) => JSON.parse(await output(process.execPath, ['--no-experimental-fetch', values.wasm, ...words])).results;
const runNative = async (words) => JSON.parse(await output(values.native, ['bench', ...words, '--json'])).results;

const medianOf = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)];

function summary(wasm, native) {
  const [{ mechanism, setting, shape, flops, bytes, limit }] = wasm;
  const best = Math.min(...wasm.map((turn) => turn.seconds));
  return {
    mechanism, setting, shape, flops, bytes, limit,
    cold_seconds: medianOf(wasm.map((turn) => turn.first_seconds)),
    seconds: best,
    median_seconds: medianOf(wasm.map((turn) => turn.median_seconds)),
    fraction: medianOf(wasm.map((turn) => turn.fraction)),
    limit_per_second: Math.max(...wasm.map((turn) => turn.limit_per_second)),
    native_seconds: native.length ? Math.min(...native.map((turn) => turn.seconds)) : undefined,
    of_native: native.length ? medianOf(native.map((turn, i) => turn.seconds / wasm[i].seconds)) : undefined,
  };
}

const milliseconds = (seconds) => (seconds < 1e-3 ? `${(seconds * 1e6).toFixed(2)} us` : `${(seconds * 1e3).toFixed(2)} ms`);

function line(case_) {
  const moves = case_.limit === 'in-place update' || case_.limit === 'read';
  const work = moves ? case_.bytes : case_.flops;
  const unit = moves ? 'GB/s' : 'GFLOP/s';
  const rate = (seconds) => (work > 0 && seconds ? `${((work / seconds) * 1e-9).toFixed(1)} ${unit}` : '');
  const times = [case_.cold_seconds, case_.seconds, case_.median_seconds].map(milliseconds);
  const ofLimit = case_.limit === 'none' ? '' : `${(case_.fraction * 100).toFixed(0)} % of ${(case_.limit_per_second * 1e-9).toFixed(1)}`;
  const ofNative = case_.of_native === undefined ? '' : case_.of_native.toFixed(2);
  const cells = [
    case_.mechanism, case_.setting, case_.shape, ...times, rate(case_.seconds), ofLimit, rate(case_.native_seconds), ofNative,
  ];
  return `| ${cells.join(' | ')} |`;
}

async function main() {
  if (values.help) return console.log(usage);
  if (!values.json)
    console.log('| mechanism | setting | shape | cold call | warm best | warm median | WASM | of its limit | native | WASM : native |\n' +
      '|---|---|---|---|---|---|---|---|---|---|');
  for (const setting of values.setting)
    for (const mechanism of positionals.length ? positionals : everyMechanism) {
      const widths = setting === 'prefill' || setting === 'cached' ? values.width : values.width.slice(-1);
      if ((mechanism === 'knn') !== (setting === 'search' || setting === 'batch')) continue;
      if (mechanism === 'softmax-attention' && (setting === 'decode' || setting === 'cached')) continue;
      for (const width of widths) {
        const words = wordsOf(mechanism, setting, width);
        const wasm = [];
        const native = [];
        for (let turn = 0; turn < Number(values.turns); ++turn) {
          if (values.native !== 'none') native.push(await runNative(words));
          wasm.push(await runWasm(words));
        }
        wasm[0].forEach((_, i) => {
          const case_ = summary(wasm.map((turn) => turn[i]), native.map((turn) => turn[i]));
          console.log(values.json ? JSON.stringify(case_) : line(case_));
        });
      }
    }
}

main().catch((error) => {
  console.error(`run.mjs: ${error.message}`);
  process.exitCode = 2;
});
