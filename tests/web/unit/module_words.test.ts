// The page has words, colours and lines for everything the module has, and the module does what the words say.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Figure, LinearMemModule } from 'linearmem';
import { beforeAll, expect, test } from 'vitest';
import { catalogue } from 'virtual:linearmem/catalogue';
import { allClaims, moduleFolder, openPart, parts } from '../../../web/prerender/wasm_modules.ts';
import { memoryStyle } from '../../../web/src/figure/memories.ts';
import { toCsv } from '../../../web/src/figure/save.ts';
import { rooms } from '../../../web/src/rooms/index.ts';
import { claims } from '../../../web/src/texts/en/claims.ts';
import { figures } from '../../../web/src/texts/en/figures.ts';
import { mistakes } from '../../../web/src/texts/en/mistakes.ts';
import * as zhNotes from '../../../web/src/texts/zh/claim_notes.ts';
import { messages as zhMessages } from '../../../web/src/texts/zh/messages.ts';

const rule = readFileSync(join(import.meta.dirname, '../../../web/src/figure/figure.css'), 'utf8');
const long = 120_000; // ms, for what computes every figure or every claim on a busy machine
let module: LinearMemModule;
const drawn = new Map<string, Figure>(); // by experiment, as the page first shows it

beforeAll(async () => {
  const { default: create } = await import(pathToFileURL(join(moduleFolder('simd'), 'linearmem.mjs')).href);
  module = await create({ wasmBinary: readFileSync(join(moduleFolder('simd'), 'linearmem.wasm')) });
  for (const { name } of module.experiments()) drawn.set(name, module.experiment(name, {}));
  for (const { name } of module.timings()) {
    module.startTiming(name, { width: 16, longest: 64 });
    while (module.stepExperiment(1000) < 1);
    drawn.set(name, module.figureSoFar());
  }
}, long);

test('the parts are the whole: every claim and experiment is in one of them, word for word, and answers as there', async () => {
  const opened = await Promise.all(parts.map(openPart));
  expect(await allClaims()).toEqual(module.claims());
  expect(catalogue.claims).toEqual(module.claims().map(({ id, room, mistakes: touching }) => ({ id, room, mistakes: touching })));
  expect(catalogue.mistakes).toEqual(module.mistakes());
  expect(opened.flatMap((part) => part.claims()).length).toBe(module.claims().length);
  expect(opened.flatMap((part) => part.experiments().map(({ name }) => name)).sort()).toEqual(module.experiments().map(({ name }) => name).sort());
  for (const part of opened) {
    expect(part.buildId()).toBe(module.buildId());
    for (const { id } of part.claims()) expect(part.verify(id, [])).toEqual(module.verify(id, []));
  }
}, long);

test('every claim and every mistake of the module has a text, and no text is left over', () => {
  expect(Object.keys(claims)).toEqual(module.claims().map(({ id }) => id));
  expect(Object.keys(mistakes).sort()).toEqual(module.mistakes().map(({ name }) => name).sort());
});

test('an opened claim speaks Chinese where the module has English words, also under a mistake, and no words are left over', () => {
  const { quantities, inputs, sources } = zhNotes;
  const twoWords = /[A-Za-z]{2,} [A-Za-z]{2,}/;
  const measured = new Set<string>();
  for (const { id, inputs: given, mistakes: touching } of module.claims()) {
    for (const { quantity, condition } of [[], ...touching.map((name) => [name])].flatMap((on) => module.verify(id, on).checks)) {
      measured.add(quantity);
      expect(quantities[quantity] ?? quantity, id).not.toMatch(twoWords);
      if (/[a-z]{3,}/.test(condition.replace(/ and /g, ' '))) expect(Object.keys(zhMessages), id).toContain(`condition.${condition}`);
    }
    expect(inputs[id] ?? given, id).not.toMatch(/[A-Za-z]{3,} [A-Za-z]{3,}/);
  }
  expect(Object.keys(quantities).filter((quantity) => !measured.has(quantity))).toEqual([]);
  expect(Object.keys(inputs).filter((id) => !module.claims().some((claim) => claim.id === id))).toEqual([]);
  expect(Object.keys(sources).filter((source) => !module.claims().some((claim) => claim.source === source))).toEqual([]);
}, long);

test('every claim holds, and every mistake fells one that holds without it', () => {
  for (const { id } of module.claims()) expect(module.verify(id, []).pass, id).toBe(true);
  for (const { name } of module.mistakes()) {
    const fallen = module.claims().filter((claim) => claim.mistakes.includes(name) && !module.verify(claim.id, [name]).pass);
    expect(fallen.length, name).toBeGreaterThan(0);
  }
}, long);

test('every experiment has a room with words for its panels, series and settings', () => {
  for (const { name, settings } of [...module.experiments(), ...module.timings()]) {
    expect(Object.keys(rooms)).toContain(name);
    const words = figures.experiments[name as keyof typeof figures.experiments];
    expect(Object.keys(words.knobs)).toEqual(settings.map((setting) => setting.name));
    const figure = drawn.get(name)!;
    expect(Object.keys(words.panels)).toEqual(figure.panels.map((panel) => panel.name));
    const series = figure.panels.flatMap((panel) => panel.series.map(({ memory, label }) => `${memory}/${label}`));
    expect(Object.keys(words.series).sort()).toEqual([...new Set(series)].sort()); // panels may share words
  }
});

test('every kind of layer in the ledger has its name and what it is, and every rule of an assumption its sentence', () => {
  const { kinds, meanings, assumptions } = figures.experiments.ledger;
  const sizes = '"hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2';
  const silent = ['"model_type":"mistral"', '"model_type":"gemma2"', '"model_type":"minimax"', '"model_type":"lfm2","full_attn_idxs":[1]',
    '"model_type":"qwen2","sliding_window":7,"use_sliding_window":true,"max_window_layers":3', '"model_type":"granitemoehybrid","mamba_n_heads":4',
    '"model_type":"bamba","mamba_n_heads":4', '"model_type":"rwkv7"'].map((model) => module.ledger('silent', `{${model},${sizes}}`, {}));
  const ledgers = [...module.ledgerModels().map(({ name }) => module.ledger(name, '', {})), ...silent];
  const rules = new Set(ledgers.flatMap(({ assumed }) => assumed.map(({ rule: name }) => name)));
  expect([...rules].sort()).toEqual(Object.keys(assumptions).sort());
  const said = Object.keys(kinds).filter((kind) => kind !== 'full attention instead');
  expect(Object.keys(meanings)).toEqual(said);
  for (const { kind } of ledgers.flatMap(({ rows }) => rows)) expect(said).toContain(kind.replaceAll('-', ' '));
});

test('every memory that is drawn has a line style, and its colours in light and in dark', () => {
  const series = [...drawn.values()].flatMap(({ panels }) => panels).flatMap((panel) => panel.series);
  for (const memory of new Set(series.map((one) => one.memory))) {
    for (const colour of [memoryStyle(memory).stroke, memoryStyle(memory).label]) {
      const property = /var\((.*)\)/.exec(colour)![1]!;
      expect(rule.split(`${property}:`).length - 1, property).toBe(2);
    }
  }
  expect(() => memoryStyle('unknown')).toThrow('no line style');
}, 60_000);

test('a figure in slices is the figure in one call, and comes with progress', () => {
  const settings = { key_width: 8, items: 300, seeds: 3 };
  const whole = module.experiment('interference-growth', settings);
  let progress = module.startExperiment('interference-growth', settings);
  expect(progress).toBe(0);
  for (let before = 0; progress < 1; before = progress) {
    progress = module.stepExperiment(0.01);
    expect(progress).toBeGreaterThanOrEqual(before);
    for (const { y } of module.figureSoFar().panels[0]!.series) expect([...y].every(Number.isFinite)).toBe(true);
  }
  expect(module.figureSoFar()).toEqual(whole);
});

test('the CSV has an interval for each sampled point', () => {
  const figure = module.experiment('least-squares', { key_width: 4 });
  const { x, y, low, high, label } = figure.panels[0]!.series[1]!;
  expect(low.length).toBe(x.length);
  expect(toCsv(figure)).toContain(`"outer_product","${label}",${x.at(-1)},${y.at(-1)},${low.at(-1)},${high.at(-1)}\n`);
});

test('the CSV has every number with every digit, and quotes its texts', () => {
  const figure = module.experiment('memory-tradeoff', { beta: 0.3 });
  const [head, ...lines] = toCsv(figure).trimEnd().split('\n');
  const expected = figure.panels.flatMap(({ name, series }) => series.flatMap(({ memory, label, x, y }) =>
    [...x].map((value, i) => `"${name}","${memory}","${label}",${value},${y[i]},,`)));
  expect(head).toBe('panel,memory,label,x,y,low,high');
  expect(lines).toEqual(expected);
});
