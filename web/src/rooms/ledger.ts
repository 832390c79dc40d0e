// What a model keeps for each request: lines against the prefix, and the ledger itself as a table under the knobs.
import type { Assumption, Figure, Ledger, Series } from 'linearmem';
import { element } from '../dom/element.ts';
import type { Engine } from '../engine/engine.ts';
import { lineRoom } from '../figure/line_room.ts';
import type { Room, Settings } from '../figure/room.ts';
import { fill, type Texts } from '../texts/languages.ts';
import { bytes, full, short } from '../texts/numbers.ts';
import { Worded } from '../texts/problems.ts';
import { type Held, ledgerPicker, type OwnConfig } from './ledger_picker.ts';

type Words = Texts['figures']['experiments']['ledger'];
type LedgerFigure = Figure & { ledger?: Ledger };

const wordsOf = (texts: Texts): Words => texts.figures.experiments.ledger;

// "gated delta rule", "ssd, layers 0-3", "break-even: ssd" in the reader's language.
function named(label: string, words: Words): string {
  const mark = /^break-even: (.*)$/.exec(label);
  if (mark) return fill(words.breakEven, { kind: named(mark[1]!, words) });
  const places = /^(.*?), layers (.*)$/.exec(label);
  if (places) return fill(words.layers, { kind: named(places[1]!, words), where: places[2]! });
  return (words.kinds as Record<string, string>)[label] ?? label;
}

// Each figure holds its own reader's file.
export function makeLedger(): Room {
  const held: Held = {};
  const lines = lineRoom('ledger', {
    open: ({ label }: Series) => label.startsWith('cross attention'),
    label: ({ label }, texts) => named(label, wordsOf(texts)),
    editor: {
      settings: ['model', 'kv_bits', 'state_bits'],
      make: (defaults, texts, change, engine) => ledgerPicker(held, engine.about.ledgerModels, defaults, wordsOf(texts).choice, change),
    },
  });

  async function compute(engine: Engine, settings: Settings): Promise<LedgerFigure> {
    const { model, ...rest } = settings;
    const { config } = held;
    if (config?.problem) throw new Worded(config.problem);
    const ledger = await engine.ledger(config?.name ?? nameOf(engine, model), config?.text ?? '', rest);
    return { ...ledger.figure, ledger };
  }

  return { ...lines, compute, summary, command: (settings, engine) => command(settings, engine, held.config) };
}

function nameOf(engine: Engine, model = 0): string {
  return engine.about.ledgerModels[model]?.name ?? '';
}

function summary(figure: LedgerFigure, settings: Settings, texts: Texts): HTMLElement[] {
  const { ledger } = figure;
  if (!ledger) return [];
  const words = wordsOf(texts);
  const parts = [table(ledger, settings, words), glossary(ledger, words), ...sentences(ledger, settings, words).map((text) => element('p', {}, text))];
  return ledger.training.length > 0 ? [...parts, training(ledger, words)] : parts;
}

interface Column {
  name: string;
  text: string;
  title?: string;
  none?: boolean; // there is nothing of it
}

const amount = (value: number, none: string) => (value > 0 ? { text: bytes(value), title: `${full(value)} B` } : { text: none, none: true });

function dataTable(title: string, first: string, rows: readonly { head: string; columns: Column[] }[]): HTMLElement {
  const names = rows[0]?.columns.map(({ name }) => name) ?? [];
  return element('table', { class: 'data' }, element('caption', {}, title),
    element('thead', {}, element('tr', {}, ...[first, ...names].map((name) => element('th', { scope: 'col' }, name)))),
    element('tbody', {}, ...rows.map(({ head, columns }) => element('tr', {}, element('th', { scope: 'row', 'data-label': first }, head),
      ...columns.map(({ name, text, title: whole, none }) => element('td', { 'data-label': name, 'data-none': none, title: whole }, text))))));
}

function table(ledger: Ledger, settings: Settings, words: Words): HTMLElement {
  const { table: names } = words;
  const title = fill(names.title, { model: ledger.model, tokens: short(settings.context ?? 8192) });
  return dataTable(title, names.kind, ledger.rows.map((row) => {
    const kind = named(row.kind.replaceAll('-', ' '), words);
    return { head: row.where ? fill(words.layers, { kind, where: row.where }) : kind, columns: [
      { name: names.count, text: short(row.layers) },
      { name: names.token, ...amount(row.tokenBytes, names.none) },
      { name: names.growing, ...amount(row.growingBytes, names.none) },
      { name: names.state, ...amount(row.stateBytes, names.none) },
      { name: names.normalizer, ...amount(row.normalizerBytes, names.none) },
      { name: names.convolution, ...amount(row.convBytes, names.none) },
      { name: names.all, ...amount(row.requestBytes, names.none) },
      { name: names.breakEven, ...(row.breakEven === null ? { text: names.none, none: true } : { text: short(row.breakEven) }) },
    ] };
  }));
}

// A reader meets the names of the kinds here first.
function glossary(ledger: Ledger, words: Words): HTMLElement {
  const kinds = [...new Set(ledger.rows.map(({ kind }) => kind.replaceAll('-', ' ')))];
  return element('ul', { class: 'glossary' }, ...kinds.map((kind) => element('li', {},
    fill(words.meaning, { kind: named(kind, words), meaning: (words.meanings as Record<string, string>)[kind]! }))));
}

function assumed({ rule, field, number }: Assumption, { assumptions }: Words): string {
  return fill(assumptions[rule], { field, number: full(number) });
}

function sentences(ledger: Ledger, settings: Settings, words: Words): string[] {
  const { totals } = words;
  const [kept, growing, fixed] = [ledger.requestBytes, ledger.growingBytes, ledger.fixedBytes].map(bytes) as [string, string, string];
  const said = [fill(totals.request, { amount: kept, growing, fixed })];
  if ((settings.batch ?? 1) > 1) said.push(fill(totals.batch, { count: short(settings.batch!), amount: bytes(ledger.batchBytes) }));
  const memory = bytes((settings.device_gib ?? 80) * 2 ** 30);
  if (ledger.requestsFit !== null) said.push(fill(totals.fit, { count: short(ledger.requestsFit), memory }));
  const instead = { amount: bytes(ledger.fullAttentionBytes), tokens: short(ledger.breakEven ?? 0) };
  said.push(ledger.fullAttentionBytes === 0 ? totals.unknown : fill(ledger.breakEven === null ? totals.never : totals.breakEven, instead));
  if (ledger.assumed.length > 0) said.push(fill(totals.assumed, { list: ledger.assumed.map((one) => assumed(one, words)).join(totals.between) }));
  return said;
}

function training(ledger: Ledger, words: Words): HTMLElement {
  const { training: names, table: { kind: first, none } } = words;
  return dataTable(names.title, first, ledger.training.map((row) => ({ head: named(row.kind.replaceAll('-', ' '), words), columns: [
    { name: names.inputs, ...amount(row.inputBytes, none) },
    { name: names.naive, ...amount(row.naiveBytes, none) },
    { name: names.chunked, ...amount(row.chunkedBytes, none) },
    { name: names.recomputed, ...amount(row.recomputedBytes, none) },
  ] })));
}

const dtypes: Record<number, string> = { 64: 'f64', 32: 'f32', 16: 'bf16', 8: 'fp8', 4: 'fp4' };

// Of settings that differ from the command's own; the device's memory always, since the command asks for none.
function command(settings: Settings, engine: Engine, config?: OwnConfig): string {
  const quoted = (text: string) => (/^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const words = ['linearmem', 'ledger', ...(config ? [quoted(config.name)] : ['--model', nameOf(engine, settings.model)])];
  const options: [string, string, (value: number) => string][] = [
    ['context', '--context', full], ['batch', '--batch', full], ['block', '--block', full], ['source', '--source', full],
    ['kv_bits', '--kv-dtype', (bits) => dtypes[bits] ?? full(bits)], ['state_bits', '--state-dtype', (bits) => dtypes[bits] ?? full(bits)],
    ['conv_bits', '--conv-dtype', (bits) => dtypes[bits] ?? full(bits)],
    ['conv_columns', '--conv-columns', (kept) => ['none', 'W-1', 'W'][kept] ?? 'W-1'],
  ];
  for (const [name, option, write] of options) if (name in settings) words.push(option, write(settings[name]!));
  return [...words, '--device-memory', `${full(settings.device_gib ?? 80)}GiB`].join(' ');
}
