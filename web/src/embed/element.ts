// <linear-mem figure="memory-tradeoff" beta="0.5" lang="zh" theme="dark" hide="alpha">: one figure on any page. It computes when it comes near
// the viewport; all figures of a page share one engine. What stands inside the tag is shown until the figure is there, and if it never is.
import { catalogue } from 'virtual:linearmem/catalogue';
import { element } from '../dom/element.ts';
import { type Engine, openEngine } from '../engine/engine.ts';
import { asLoadFailure } from '../engine/failure.ts';
import { embedCode } from '../figure/embed_code.ts';
import { FigureFrame } from '../figure/frame.ts';
import type { Settings } from '../figure/room.ts';
import { clampSetting, hiddenKnobs, readHide, writeAddress } from '../page/address.ts';
import { whenNear } from '../page/near.ts';
import { rooms } from '../rooms/index.ts';
import { type Language, languageTags, loadTexts, type Texts } from '../texts/languages.ts';
import { failureWords, type Words } from '../texts/problems.ts';
import { base } from './base.ts';
import { useFonts } from './fonts.ts';
import { elementStyles } from './styles.ts';

export const figures = Object.keys(rooms);
const infos = new Map([...catalogue.experiments, ...catalogue.timings].map((info) => [info.name, info]));
const settingNames = new Set([...infos.values()].flatMap(({ settings }) => settings.map(({ name }) => name)));
const own = ['figure', 'lang', 'theme', 'hide'];
const attributes = [...own, ...[...settingNames].flatMap((name) => [...new Set([name, name.replaceAll('_', '-')])].filter((one) => !own.includes(one)))];

let shared: Promise<Engine> | undefined;

// One for all figures of the page. After a failure the next figure tries again.
function engineFor(figure: string): Promise<Engine> {
  if (shared) return shared;
  const opening = openEngine('auto', figure);
  shared = opening;
  opening.catch(() => { if (shared === opening) shared = undefined; });
  return opening;
}

function languageOf(host: HTMLElement): Language {
  const tag = host.closest<HTMLElement>('[lang]')?.lang || navigator.language || 'en';
  return tag.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export function defineElement(): void {
  if (customElements.get('linear-mem')) return;
  const dark = matchMedia('(prefers-color-scheme: dark)');

  customElements.define('linear-mem', class extends HTMLElement {
    static readonly observedAttributes = attributes;
    private readonly figure = element('div');
    private readonly trouble = element('p', { class: 'figure-status', role: 'status' });
    private readonly box = element('div', { class: 'box' }, element('slot'), this.trouble, this.figure);
    private frame?: FigureFrame;
    private texts?: Texts;
    private near = false;
    private mounting = 0; // counts, so that only the newest mounting ends in a figure

    constructor() {
      super();
      const root = this.attachShadow({ mode: 'open' });
      root.adoptedStyleSheets = [elementStyles()];
      root.append(this.box);
      useFonts();
    }

    connectedCallback(): void {
      dark.addEventListener('change', this.paint);
      this.paint();
      if (this.near) void this.mount();
      else whenNear([this], () => {
        this.near = true;
        if (this.isConnected) void this.mount();
      });
    }

    disconnectedCallback(): void {
      dark.removeEventListener('change', this.paint);
      this.unmount();
    }

    attributeChangedCallback(name: string, before: string | null, now: string | null): void {
      if (before === now || !this.near || !this.isConnected) return;
      if (name === 'theme') this.paint();
      else if (name === 'lang') void this.speak();
      else if (name === 'figure' || name === 'hide') void this.mount();
      else this.frame?.set(this.settings());
    }

    private readonly paint = (): void => {
      const asked = this.getAttribute('theme');
      this.box.dataset.theme = asked === 'dark' || asked === 'light' ? asked : dark.matches ? 'dark' : 'light';
    };

    private unmount(): void {
      this.mounting += 1;
      this.frame?.end();
      this.frame = undefined;
    }

    private async mount(): Promise<void> {
      this.unmount();
      const round = this.mounting;
      const name = this.getAttribute('figure') ?? '';
      const texts = await this.wordsFor(languageOf(this));
      if (round !== this.mounting) return;
      if (!Object.hasOwn(rooms, name)) return this.tell(texts.say('figure.unknown', { name, names: figures.join(', ') }));
      this.tell(texts.say('figure.loading'));
      try {
        const [engine, room] = await Promise.all([engineFor(name), rooms[name]!()]);
        if (round !== this.mounting) return;
        this.frame = new FigureFrame({
          host: this.figure, room, engine, ownEngine: () => openEngine('auto', name), texts: this.texts!, settings: this.settings(), clamp: clampSetting,
          onSettings: (settings) => this.dispatchEvent(new CustomEvent('linear-mem:settings', { detail: settings, bubbles: true })),
          link: () => this.link(name),
          embedCode: (settings) => embedCode({ script: new URL('linear-mem.js', base).href, figure: name, settings, language: this.texts!.language }),
          hidden: hiddenKnobs(this.hide(), name),
        });
        this.box.querySelector('slot')?.remove();
        this.tell();
      } catch (problem) {
        if (round === this.mounting) this.tell(...failureWords(asLoadFailure(problem), this.texts!));
      }
    }

    // The whole page, with this figure in sight as it is here.
    private link(name: string): string {
      const language = this.texts!.language;
      const state = { language, simd: 'auto' as const, mistakes: [], hide: this.hide(), figures: { [name]: this.frame?.shown ?? {} } };
      return new URL(`./${writeAddress(state)}#${name}`, base).href;
    }

    private hide(): string[] {
      return readHide(this.getAttribute('hide'), [...infos.values()]);
    }

    private settings(): Settings {
      const specs = infos.get(this.getAttribute('figure') ?? '')?.settings ?? [];
      const given = specs.map((spec) => {
        const text = this.getAttribute(spec.name) ?? this.getAttribute(spec.name.replaceAll('_', '-')) ?? '';
        const value = text.trim() === '' ? undefined : clampSetting(Number(text), spec);
        return [spec.name, value === spec.default ? undefined : value] as const;
      });
      return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Settings;
    }

    private async wordsFor(language: Language): Promise<Texts> {
      this.texts = await loadTexts(language);
      this.box.lang = languageTags[language];
      return this.texts;
    }

    private async speak(): Promise<void> {
      const texts = await this.wordsFor(languageOf(this));
      this.frame?.speak(texts);
    }

    private tell(...words: Words): void {
      this.trouble.replaceChildren(...words);
      this.trouble.hidden = words.length === 0;
    }
  });
}
