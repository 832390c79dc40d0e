// The page's state in its address: language, switches, the forced scalar module, and each figure's settings. Only what
// differs from the default is written; what is unknown, out of range or of the wrong type is ignored or clamped.
import type { ExperimentInfo, SettingSpec } from 'linearmem';
import { type Language, languages } from '../texts/languages.ts';

// hide=beta,memory-tradeoff.alpha publishes figures without some knobs: of every figure, or of one. Only what names a knob is kept.
export function readHide(hide: string | null, experiments: Known['experiments']): string[] {
  const names = new Set(experiments.flatMap(({ name, settings }) => settings.flatMap((spec) => [spec.name, `${name}.${spec.name}`])));
  return [...new Set((hide ?? '').split(',').map((name) => name.trim()))].filter((name) => names.has(name));
}

export function hiddenKnobs(hide: readonly string[], experiment: string): (name: string) => boolean {
  return (name) => hide.includes(name) || hide.includes(`${experiment}.${name}`);
}

export interface PageState {
  language?: Language; // undefined: as the browser prefers
  simd: 'auto' | 'off';
  mistakes: string[];
  hide: string[];
  figures: Record<string, Record<string, number>>; // experiment -> setting -> value, non-default values only
}

export interface Known {
  mistakes: readonly { name: string }[];
  experiments: readonly Pick<ExperimentInfo, 'name' | 'settings'>[];
}

const nothing: Known = { mistakes: [], experiments: [] };

export function readAddress(search: string, known: Known = nothing): PageState {
  const query = new URLSearchParams(search);
  const asked = query.get('lang');
  const broken = (query.get('break') ?? '').split(',');
  const figures: PageState['figures'] = {};
  for (const { name, settings } of known.experiments) figures[name] = readSettings(query, name, settings);
  return {
    language: languages.find((language) => language === asked),
    simd: query.get('simd') === 'off' ? 'off' : 'auto',
    hide: readHide(query.get('hide'), known.experiments),
    mistakes: known.mistakes.map(({ name }) => name).filter((name) => broken.includes(name)),
    figures,
  };
}

function readSettings(query: URLSearchParams, experiment: string, specs: readonly SettingSpec[]): Record<string, number> {
  const settings: Record<string, number> = {};
  for (const spec of specs) {
    const text = query.get(`${experiment}.${spec.name}`);
    if (text === null || text.trim() === '') continue;
    const value = clampSetting(Number(text), spec);
    if (value !== undefined && value !== spec.default) settings[spec.name] = value;
  }
  return settings;
}

// The nearest value the setting can take; undefined for what is not a number.
export function clampSetting(value: number, { minimum, maximum, step }: SettingSpec): number | undefined {
  if (Number.isNaN(value)) return undefined;
  const inside = Math.min(maximum, Math.max(minimum, value));
  if (step <= 0) return inside;
  const steps = Math.round((inside - minimum) / step);
  return Math.min(maximum, Number((minimum + steps * step).toPrecision(12)));
}

export function writeAddress({ language, simd, mistakes, hide, figures }: PageState): string {
  const parts: string[] = [];
  if (language) parts.push(`lang=${language}`);
  if (simd === 'off') parts.push('simd=off');
  if (mistakes.length > 0) parts.push(`break=${mistakes.map(encodeURIComponent).join(',')}`);
  if (hide.length > 0) parts.push(`hide=${hide.map(encodeURIComponent).join(',')}`);
  for (const [experiment, settings] of Object.entries(figures)) {
    for (const [name, value] of Object.entries(settings)) parts.push(`${encodeURIComponent(`${experiment}.${name}`)}=${value}`);
  }
  return parts.length > 0 ? `?${parts.join('&')}` : '';
}
