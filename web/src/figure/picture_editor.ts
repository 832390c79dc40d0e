// An 8 x 8 picture that the reader draws: 64 buttons that are on or off, kept as two settings of 32 bits, row by row.
import { element } from '../dom/element.ts';
import type { Settings } from './room.ts';

const side = 8;
const names = ['picture_top', 'picture_bottom'] as const;

export interface EditorWords {
  title: string;
  pixel: string; // {row}, {column}
  clear: string;
  fill(text: string, values: Record<string, string | number>): string;
}

export interface Editor {
  root: HTMLElement;
  above?: boolean; // over the figure, where what it changes is in sight of it; otherwise under it
  show(settings: Settings): void;
  reset?(): void; // of what is not in the settings
}

export function pictureEditor(words: EditorWords, defaults: Settings, change: (settings: Settings) => void): Editor {
  let bits = names.map((name) => defaults[name]!);
  const put = (next: number[]) => change(Object.fromEntries(names.map((name, i) => [name, next[i]!])));
  const flipped = (pixel: number) => bits.map((word, half) => (Math.floor(pixel / 32) === half ? (word ^ bit(pixel)) >>> 0 : word));
  const buttons = Array.from({ length: side * side }, (_, pixel) => element('button', {
    type: 'button', class: 'pixel', 'aria-pressed': 'false', click: () => put(flipped(pixel)),
    'aria-label': words.fill(words.pixel, { row: Math.floor(pixel / side) + 1, column: (pixel % side) + 1 }),
  }));
  const grid = element('div', { class: 'pixels', role: 'group', 'aria-label': words.title }, ...buttons);
  const clear = element('button', { type: 'button', class: 'quiet', click: () => put([0, 0]) }, words.clear);
  return {
    root: element('div', { class: 'picture-editor' }, element('p', {}, words.title), grid, clear),
    show: (settings) => {
      bits = names.map((name) => settings[name] ?? defaults[name]!);
      buttons.forEach((button, pixel) => button.setAttribute('aria-pressed', String((bits[Math.floor(pixel / 32)]! & bit(pixel)) !== 0)));
    },
  };
}

function bit(pixel: number): number {
  return 1 << (31 - (pixel % 32));
}
