// One setting as steps: back, where we are, on. For figures that are read token by token.
import { element } from '../dom/element.ts';
import type { Editor } from './picture_editor.ts';
import type { Settings } from './room.ts';

export interface StepperWords {
  back: string;
  on: string;
  at: string; // {step}, {last}
  fill(text: string, values: Record<string, string | number>): string;
}

export interface Steps {
  setting: string;
  first: number;
  last: number;
  initial: number;
}

export function stepper(words: StepperWords, { setting, first, last, initial }: Steps, change: (settings: Settings) => void): Editor {
  let step = initial;
  const go = (by: number) => change({ [setting]: Math.min(last, Math.max(first, step + by)) });
  const back = element('button', { type: 'button', click: () => go(-1) }, words.back);
  const on = element('button', { type: 'button', click: () => go(1) }, words.on);
  const at = element('output', {});
  return {
    above: true,
    root: element('p', { class: 'buttons stepper' }, back, at, on),
    show: (settings) => {
      step = settings[setting] ?? initial;
      at.textContent = words.fill(words.at, { step, last });
      for (const [button, end] of [[back, first], [on, last]] as const) button.setAttribute('aria-disabled', String(step === end)); // keeps the focus
    },
  };
}
