// The settings of a figure: a slider bound to a number box for each, at most four in sight and the rest folded.
import type { SettingSpec } from 'linearmem';
import { element } from '../dom/element.ts';
import type { Texts } from '../texts/languages.ts';
import { short } from '../texts/numbers.ts';
import type { Settings } from './room.ts';

const inSight = 4;
const positions = 1000; // of a slider whose values span several powers of ten

export interface KnobWords {
  symbol: string;
  meaning: string;
  choices?: readonly string[]; // what its values mean, from the least on: a list to choose from in place of a slider
}

export interface Knobs {
  root: HTMLElement;
  show(settings: Settings): void;
}

export interface KnobActions {
  words(spec: SettingSpec): KnobWords;
  clamp(value: number, spec: SettingSpec): number | undefined;
  turn(name: string, value: number, settled: boolean): void;
}

export function knobs(specs: readonly SettingSpec[], texts: Texts, actions: KnobActions): Knobs {
  const made = specs.map((spec) => knob(spec, texts, actions));
  const roots = made.map(({ root }) => root);
  const root = element('div', { class: 'knobs' }, ...roots.slice(0, inSight));
  if (roots.length > inSight) {
    const summary = element('summary', {}, texts.say('figure.more-knobs'));
    root.append(element('details', { class: 'more-knobs' }, summary, element('div', { class: 'knobs' }, ...roots.slice(inSight))));
  }
  return { root, show: (settings) => made.forEach(({ show }, i) => show(settings[specs[i]!.name] ?? specs[i]!.default)) };
}

interface Knob {
  root: HTMLElement;
  show(value: number): void;
}

function choice(spec: SettingSpec, { symbol, meaning, choices }: KnobWords, texts: Texts, actions: KnobActions): Knob {
  const options = choices!.map((words, i) => element('option', { value: spec.minimum + i }, words));
  const named = texts.say('figure.knob-meaning', { meaning });
  const select = element('select', { 'aria-label': symbol + named, change: () => actions.turn(spec.name, Number(select.value), true) }, ...options);
  const name = element('span', { class: 'knob-name' }, element('var', {}, symbol), named);
  return { root: element('div', { class: 'knob choice' }, name, select), show: (value) => { select.value = String(value); } };
}

function knob(spec: SettingSpec, texts: Texts, actions: KnobActions): Knob {
  const words = actions.words(spec);
  if (words.choices) return choice(spec, words, texts, actions);
  const { symbol, meaning } = words;
  const track = trackOf(spec);
  const named = texts.say('figure.knob-meaning', { meaning });
  const slider = element('input', { type: 'range', min: track.minimum, max: track.maximum, step: track.step, 'aria-label': symbol + named });
  const box = element('input', {
    type: 'number', min: spec.minimum, max: spec.maximum, step: spec.step > 0 ? spec.step : 'any', 'aria-label': symbol + named,
    title: texts.say('figure.knob-range', { minimum: short(spec.minimum), maximum: short(spec.maximum) }),
  });
  let current = spec.default;
  const show = (value: number) => {
    current = value;
    slider.value = String(track.toTrack(value));
    slider.setAttribute('aria-valuetext', short(value));
    box.value = String(value);
  };
  // The figure answers with show, also when what was typed is no value at all.
  const turn = (wanted: number, settled: boolean) => actions.turn(spec.name, actions.clamp(wanted, spec) ?? current, settled);
  slider.addEventListener('input', () => turn(track.toValue(slider.valueAsNumber), false));
  slider.addEventListener('change', () => turn(track.toValue(slider.valueAsNumber), true));
  box.addEventListener('change', () => turn(box.value.trim() === '' ? Number.NaN : Number(box.value), true));
  const name = element('span', { class: 'knob-name' }, element('var', {}, symbol), named);
  return { root: element('div', { class: 'knob' }, name, slider, box), show };
}

// Where a value sits on its slider: evenly, or by its logarithm when the limits are far apart.
function trackOf({ minimum, maximum, step }: SettingSpec) {
  if (minimum > 0 && maximum / minimum >= 1000) {
    const span = Math.log(maximum / minimum);
    return {
      minimum: 0, maximum: positions, step: 1,
      toTrack: (value: number) => Math.round((Math.log(value / minimum) / span) * positions),
      toValue: (position: number) => minimum * Math.exp((position / positions) * span),
    };
  }
  const same = (value: number) => value;
  return { minimum, maximum, step: step > 0 ? step : 'any', toTrack: same, toValue: same };
}
