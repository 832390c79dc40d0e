// The figures of the page: each is fetched and computed when the reader comes near it, or when all of them are wanted for printing.
import { type Engine, openEngine } from '../engine/engine.ts';
import { embedCode } from '../figure/embed_code.ts';
import type { FigureFrame } from '../figure/frame.ts';
import type { Settings } from '../figure/room.ts';
import type { Texts } from '../texts/languages.ts';
import { clampSetting, hiddenKnobs, type PageState, writeAddress } from './address.ts';
import { whenNear } from './near.ts';

export interface FiguresPage {
  texts(): Texts;
  state(): PageState;
  change(figure: string, settings: Settings, settled: boolean): void;
}

export class PageFigures {
  private readonly mounting = new Map<HTMLElement, Promise<FigureFrame>>();
  private readonly frames = new Map<string, FigureFrame>();
  private readonly hosts = [...document.querySelectorAll<HTMLElement>('[data-figure]')];
  private second?: Promise<Engine>; // what runs long by hand keeps nothing else on the page waiting

  constructor(private readonly engine: Engine, private readonly page: FiguresPage) {
    const mount = (host: HTMLElement) => void this.mounted(host);
    whenNear(this.hosts, mount, '0px'); // a reader who has not moved pays only for what is in sight
    addEventListener('scroll', () => whenNear(this.hosts, mount), { once: true, passive: true });
  }

  speak(texts: Texts): void {
    for (const frame of this.frames.values()) frame.speak(texts);
  }

  set(figure: string, settings: Settings): void {
    this.frames.get(figure)?.set(settings);
  }

  // The address has changed.
  follow(): void {
    const { figures } = this.page.state();
    for (const [name, frame] of this.frames) frame.set(figures[name] ?? {});
  }

  // Every figure there and computed, but for those that the reader starts.
  async all(): Promise<void> {
    for (const host of this.hosts) await (await this.mounted(host)).finished();
  }

  private mounted(host: HTMLElement): Promise<FigureFrame> {
    const known = this.mounting.get(host) ?? this.mount(host);
    this.mounting.set(host, known);
    return known;
  }

  private async mount(host: HTMLElement): Promise<FigureFrame> {
    const { engine, page } = this;
    const name = host.dataset.figure!;
    const [{ FigureFrame }, { rooms }] = await Promise.all([import('../figure/frame.ts'), import('../rooms/index.ts')]);
    const room = await rooms[name]!();
    const frame = new FigureFrame({
      host, room, engine, texts: page.texts(), settings: page.state().figures[name] ?? {}, clamp: clampSetting,
      ownEngine: () => this.ownEngine(name),
      onSettings: (settings, settled) => page.change(name, settings, settled),
      link: () => new URL(`${writeAddress(page.state()) || location.pathname}#${name}`, location.href).href,
      embedCode: (settings) =>
        embedCode({ script: new URL('linear-mem.js', document.baseURI).href, figure: name, settings, language: page.texts().language }),
      hidden: hiddenKnobs(page.state().hide, name),
    });
    this.frames.set(name, frame);
    return frame;
  }

  private ownEngine(figure: string): Promise<Engine> {
    this.second ??= openEngine(this.page.state().simd, figure);
    this.second.catch(() => { this.second = undefined; }); // the next press of the button tries again
    return this.second;
  }
}
