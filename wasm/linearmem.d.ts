// The types of the WebAssembly module, written by hand; a test compares them with the module itself.
// Shapes, axes and errors are those of the C++ headers in core/include/linearmem. A refused call throws an Error
// whose message names the argument, the axis and both numbers; the module stays usable afterwards.

export type DType = 'F64' | 'F32' | 'I64' | 'BOOL';

// data is a copy, never a view of the module's memory. BOOL is one byte per element.
export interface Tensor {
  dtype: DType;
  shape: number[];
  data: Float64Array | Float32Array | BigInt64Array | Uint8Array;
}

export interface MistakeInfo {
  name: string;
  meaning: string;
}

export interface ClaimInfo {
  id: string;
  room: string;
  statement: string;
  source: string;
  inputs: string;
  mistakes: string[];
}

export interface Check {
  quantity: string;
  kind: 'value' | 'residual' | 'exact' | 'stated';
  expected: number;
  got: number;
  error: number;
  tolerance: number;
  relative: boolean;
  pass: boolean;
  unit: string; // of the numbers: 'MiB', 'bytes'; '' for a pure number
  condition: string;
  digits: string;
}

export interface ClaimResult {
  id: string;
  pass: boolean;
  checks: Check[];
}

export interface SettingSpec {
  name: string;
  meaning: string;
  default: number;
  minimum: number;
  maximum: number;
  step: number;
}

export interface ExperimentInfo {
  name: string;
  question: string;
  notShown: string;
  settings: SettingSpec[];
}

export interface Axis {
  quantity: string;
  unit: string;
  logarithmic: boolean;
}

export interface Series {
  memory: string;
  label: string;
  x: Float64Array;
  y: Float64Array;
  low: Float64Array; // the interval of each y; empty: none
  high: Float64Array;
  points: boolean; // measured: points with their intervals; otherwise a line
}

export interface Band {
  label: string;
  from: number;
  to: number;
}

export interface Panel {
  name: string;
  x: Axis;
  y: Axis;
  series: Series[];
  bands: Band[]; // shaded stretches of the horizontal axis
  columns: number; // above 0: each series is a picture, its y the pixels row by row
  limit: number; // of the pictures' one scale, -limit to limit
}

export interface Figure {
  panels: Panel[];
}

export interface MechanismInfo {
  name: string;
  room: string;
  equation: string;
  inputs: { name: string; axes: string; kind: 'floating' | 'integer' | 'boolean'; required: boolean }[];
  options: { name: string; kind: 'number' | 'integer' | 'boolean' | 'choice' | 'text'; default: string; meaning: string; choices: string[] }[];
  outputs: string[];
  forms: string[];
}

// A tensor as a convention has it and as it is here. Axes as in the C++ header: 'B T Hq*K' packs two sizes into one axis.
export interface ConventionTensor {
  name: string;
  axes: string;
  ours: string; // '': a parameter that goes into other tensors
  ourAxes: string;
  form: 'same' | 'factor' | 'log of negative' | 'before softplus' | 'before sigmoid';
  kind: 'floating' | 'integer' | 'boolean';
  required: boolean;
}

export interface ConventionDifference {
  what: string;
  ours: string;
  theirs: string;
}

export interface ConventionMechanism {
  mechanism: string;
  function: string;
  source: string; // the file it was read in, and its version
  inputs: ConventionTensor[];
  outputs: ConventionTensor[];
  options: MechanismInfo['options'];
  differences: ConventionDifference[];
}

export interface ConventionInfo {
  name: string;
  meaning: string;
  mechanisms: ConventionMechanism[];
}

export interface LedgerModel {
  name: string;
  source: string; // where its numbers are published
}

// Bytes of one layer and one request at the context, unless they say otherwise; null: there is none.
export interface LedgerRow {
  kind: string; // 'gated-delta-rule'
  layers: number;
  where: string;
  tokenBytes: number; // that one kept token adds
  growingBytes: number;
  stateBytes: number;
  normalizerBytes: number;
  convBytes: number;
  requestBytes: number; // of all layers of the row
  breakEven: number | null; // the longest prefix at which full attention takes no more
}

// What a recurrent layer stores between forward and backward; bytes of all layers of the row and of the batch.
export interface TrainingRow {
  kind: string;
  layers: number;
  inputBytes: number;
  naiveBytes: number;
  chunkedBytes: number;
  recomputedBytes: number;
}

// A default of the architecture, where the configuration is silent: what it fills in for `field`, with the rule's number.
export interface Assumption {
  rule: 'value' | 'last-of-every' | 'window-in-every-layer' | 'window-from' | 'full-and-linear-in-turn' | 'as-full-attn-idxs'
    | 'mamba-in-every-layer' | 'none' | 'width-of-full-attention';
  field: string; // 'head_dim'; '' for the last rule
  number: number;
}

export interface Ledger {
  model: string;
  modelType: string;
  rows: LedgerRow[];
  growingBytes: number; // of one request
  fixedBytes: number;
  requestBytes: number;
  batchBytes: number;
  fullAttentionBytes: number; // one request, were every layer full attention; 0: unknown
  breakEven: number | null;
  requestsFit: number | null;
  training: TrainingRow[];
  assumed: Assumption[];
  figure: Figure;
}

export interface RunSettings {
  dtype?: 'f32' | 'f64';
  form?: string;
  chunk?: number;
  options?: Record<string, string | number | boolean>; // the mechanism's, or the convention's
  convention?: string; // of conventions(): whose tensor names, layouts and options; 'linearmem' when absent
}

export interface LinearMemModule {
  buildId(): string; // equal to the build id the loader was compiled with, or the two are of different builds
  target(): string; // the SIMD target the kernels were compiled for: "WASM", "SCALAR"

  claims(): ClaimInfo[];
  mistakes(): MistakeInfo[];
  verify(id: string, mistakes: string[]): ClaimResult;

  experiments(): ExperimentInfo[];
  experiment(name: string, settings: Record<string, number>): Figure;
  // The same in slices: the module holds one run, whose progress, 0 to 1, start and step return.
  startExperiment(name: string, settings: Record<string, number>): number;
  stepExperiment(milliseconds: number): number;
  figureSoFar(): Figure;

  // Figures whose numbers are this machine's times. Once started, stepExperiment and figureSoFar go on with one.
  timings(): ExperimentInfo[];
  startTiming(name: string, settings: Record<string, number>): number;

  ledgerModels(): LedgerModel[];
  // Of the text of a config.json, called `name` in the answer; of the named model where `config` is empty. Settings as of the experiment 'ledger'.
  ledger(name: string, config: string, settings: Record<string, number>): Ledger;

  mechanisms(): MechanismInfo[];
  conventions(): ConventionInfo[];
  run(mechanism: string, inputs: Record<string, Tensor>, settings: RunSettings): Record<string, Tensor>;
}

export interface ModuleOptions {
  wasmBinary: ArrayBuffer | Uint8Array;
  print?: (text: string) => void;
  printErr?: (text: string) => void;
}

export default function createLinearMem(options: ModuleOptions): Promise<LinearMemModule>;
