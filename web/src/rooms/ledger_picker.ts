// Which model the ledger is of: a named one, or a config.json that the reader chooses or drops; and in what precision. The file's
// text stays in this page.
import type { LedgerModel } from 'linearmem';
import { element } from '../dom/element.ts';
import type { Editor } from '../figure/picture_editor.ts';
import type { Settings } from '../figure/room.ts';
import { fill, type Texts } from '../texts/languages.ts';
import { bytes } from '../texts/numbers.ts';

export const mostBytes = 4 << 20; // as the module reads

export interface OwnConfig {
  name: string;
  text: string;
  problem?: string; // why there is no text
}

// Where the figure looks for the reader's file.
export interface Held {
  config?: OwnConfig;
}

type Words = Texts['figures']['experiments']['ledger']['choice'];
type Change = (settings: Settings, settled?: boolean) => void;

const yours = -1; // of the model list
const kvBits = [32, 16, 8, 4];
const stateBits = [64, 32, 16, 8];

export function ledgerPicker(held: Held, models: readonly LedgerModel[], defaults: Settings, words: Words, change: Change): Editor {
  let settings: Settings = {};
  const valueOf = (name: string) => settings[name] ?? defaults[name]!;
  const named = models.map(({ name }, i) => element('option', { value: i }, name));
  const model = element('select', { 'aria-label': words.model, change: () => {
    if (Number(model.value) === yours) return;
    held.config = undefined;
    change({ model: Number(model.value) });
  } });
  const kv = bitsSelect(kvBits, words.kv, words, (value) => change({ kv_bits: value }));
  const states = bitsSelect(stateBits, words.states, words, (value) => change({ state_bits: value }));
  const show = () => {
    const own = held.config ? [element('option', { value: yours }, fill(words.yours, { name: held.config.name }))] : [];
    model.replaceChildren(...own, ...named);
    model.value = String(held.config ? yours : valueOf('model'));
    kv.value = String(valueOf('kv_bits'));
    states.value = String(valueOf('state_bits'));
  };
  const take = async (file: File | undefined | null) => {
    if (!file) return;
    held.config = await readConfig(file, words);
    show();
    change({}, false);
  };
  return {
    root: element('div', { class: 'picker' },
      element('label', {}, words.model, model), element('label', {}, words.kv, kv), element('label', {}, words.states, states),
      dropZone(words, take)),
    show: (next) => {
      settings = next;
      show();
    },
    reset: () => { held.config = undefined; },
  };
}

function bitsSelect(choices: readonly number[], label: string, { bits }: Words, change: (value: number) => void): HTMLSelectElement {
  const options = choices.map((value) => element('option', { value }, fill(bits, { bits: value })));
  const select = element('select', { 'aria-label': label, change: () => change(Number(select.value)) }, ...options);
  return select;
}

// A label over a file input that fills it: keyboard and touch reach the input, a dropped file lands on it.
function dropZone(words: Words, take: (file: File | undefined | null) => Promise<void>): HTMLElement {
  const input = element('input', { type: 'file', accept: '.json,application/json', 'aria-label': words.file, change: () => {
    const file = input.files?.[0];
    void take(file).then(() => { input.value = ''; }); // so that the same file can be chosen again
  } });
  const over = (event: Event) => {
    event.preventDefault();
    zone.dataset.over = '';
  };
  const away = () => { delete zone.dataset.over; };
  const drop = (event: Event) => {
    event.preventDefault();
    away();
    void take((event as DragEvent).dataTransfer?.files[0]);
  };
  const zone = element('label', { class: 'file-drop', dragenter: over, dragover: over, dragleave: away, drop }, words.file, element('small', {}, words.privacy), input);
  return zone;
}

async function readConfig(file: File, words: Words): Promise<OwnConfig> {
  const { name, size } = file;
  const refused = (problem: string) => ({ name, text: '', problem });
  if (size > mostBytes) return refused(fill(words.tooLarge, { name, size: bytes(size), limit: bytes(mostBytes) }));
  try {
    const text = await file.text();
    return text.trim() === '' ? refused(fill(words.empty, { name })) : { name, text };
  } catch {
    return refused(fill(words.unreadable, { name }));
  }
}
