// The tag that shows a figure on another page, with the settings that differ from the default.
import type { Language } from '../texts/languages.ts';
import { full } from '../texts/numbers.ts';
import type { Settings } from './room.ts';

export interface Embedded {
  script: string; // the address of linear-mem.js
  figure: string;
  settings: Settings;
  language: Language;
}

export function embedCode({ script, figure, settings, language }: Embedded): string {
  const knobs = Object.entries(settings).map(([name, value]) => ` ${name.replaceAll('_', '-')}="${full(value)}"`).join('');
  return `<script src="${script}" defer></script>\n<linear-mem figure="${figure}"${knobs} lang="${language}"></linear-mem>`;
}
