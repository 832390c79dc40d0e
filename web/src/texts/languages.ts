// The languages of the page, and how a sentence is made from a text with {names}.
import type { figures } from './en/figures.ts';
import type { messages } from './en/messages.ts';

export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];
export const languageTags: Record<Language, string> = { en: 'en', zh: 'zh-Hans' };

export type MessageKey = keyof typeof messages;
export type Messages = Record<MessageKey, string>;
export type FigureTexts = typeof figures extends infer T ? Loosened<T> : never;
export type Loosened<T> = T extends string ? string : { [K in keyof T]: Loosened<T[K]> };

export interface Texts {
  language: Language;
  say(key: MessageKey, values?: Record<string, string | number>): string;
  knows(key: string): key is MessageKey;
  figures: FigureTexts;
}

export function fill(text: string, values: Record<string, string | number> = {}): string {
  return text.replace(/\{([\w-]+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}

export function makeTexts(language: Language, all: Messages, figureTexts: FigureTexts): Texts {
  return { language, figures: figureTexts, say: (key, values) => fill(all[key], values), knows: (key): key is MessageKey => Object.hasOwn(all, key) };
}

// Each language is a chunk of its own; only the one that is read is fetched.
export async function loadTexts(language: Language): Promise<Texts> {
  const parts = language === 'zh' ? await import('./zh/index.ts') : await import('./en/index.ts');
  return makeTexts(language, parts.messages, parts.figures);
}
