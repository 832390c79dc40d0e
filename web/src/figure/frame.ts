// A figure as it stands on a page: panels, knobs, the numbers, and the foot that every figure has. It knows nothing of the
// page around it; whoever mounts it hands over the engine, the texts and the settings, and hears of changes.
import type { ExperimentInfo, Figure, SettingSpec } from 'linearmem';
import { copyable, copyButton } from '../dom/copy.ts';
import { download } from '../dom/download.ts';
import { element } from '../dom/element.ts';
import type { Engine } from '../engine/engine.ts';
import type { Texts } from '../texts/languages.ts';
import { full } from '../texts/numbers.ts';
import { problemWords } from '../texts/problems.ts';
import { type Knobs, knobs } from './knobs.ts';
import type { Editor } from './picture_editor.ts';
import type { Room, Settings } from './room.ts';
import { pngFile, svgFile, toCsv, toJson } from './save.ts';

export interface FrameOptions {
  host: HTMLElement;
  room: Room;
  engine: Engine;
  ownEngine(): Promise<Engine>; // for a room that runs by hand
  texts: Texts;
  settings: Settings;
  clamp(value: number, spec: SettingSpec): number | undefined;
  onSettings(settings: Settings, settled: boolean): void; // non-default values only
  link(): string;
  embedCode(settings: Settings): string; // the tag that shows this figure on another page
  hidden(name: string): boolean; // settings that stay as they are: without a knob
}

export class FigureFrame {
  private readonly info: ExperimentInfo;
  private settings: Settings;
  private texts: Texts;
  private data?: Figure;
  private wanted = false;
  private computing = false;
  private pending = new AbortController();
  private editor?: Editor;
  private width = 0;
  private knobs!: Knobs;
  private readonly panels = element('div', { class: 'panels' });
  private readonly summary = element('div', { class: 'figure-summary' });
  private readonly numbers = element('div', { class: 'numbers' });
  private readonly status = element('p', { class: 'figure-status', role: 'status' });
  private readonly stopButton = element('button', { type: 'button', class: 'quiet', hidden: true, click: () => this.cancel() });
  private readonly waiting: (() => void)[] = []; // for what is being computed
  private readonly commandLine = element('div');
  private readonly resizing = new ResizeObserver(() => this.draw());
  private startButton?: HTMLButtonElement; // of a room that runs by hand; it also stops the run

  constructor(private readonly options: FrameOptions) {
    const { experiments, timings } = options.engine.about;
    const info = [...experiments, ...timings].find(({ name }) => name === options.room.experiment);
    if (!info) throw new Error(`the module has no experiment ${options.room.experiment}`);
    this.info = info;
    this.settings = options.settings;
    this.texts = options.texts;
    options.host.classList.add('figure');
    this.resizing.observe(this.panels);
    this.build();
    if (!options.room.byHand) void this.compute();
  }

  speak(texts: Texts): void {
    this.texts = texts;
    this.build();
    this.width = 0;
    this.draw();
  }

  get shown(): Settings {
    return this.settings;
  }

  set(settings: Settings): void {
    this.settings = settings;
    this.knobs.show(settings);
    this.editor?.show(settings);
    if (this.options.room.byHand) this.forget();
    else void this.compute();
  }

  // Resolves when nothing is being computed.
  finished(): Promise<void> {
    return this.computing ? new Promise((done) => this.waiting.push(done)) : Promise.resolve();
  }

  // Nobody looks any more.
  end(): void {
    this.cancel();
    this.resizing.disconnect();
  }

  // What was measured belongs to other settings.
  private forget(): void {
    this.cancel();
    this.data = undefined;
    this.panels.replaceChildren();
    this.numbers.replaceChildren();
    this.showCommand();
    this.showStart(this.texts.say('figure.unmeasured'));
  }

  private startOrStop(): void {
    if (this.computing) this.cancel();
    else void this.compute();
    this.showStart();
  }

  private showStart(status?: string): void {
    if (!this.startButton) return;
    this.startButton.textContent = this.texts.say(this.computing && !this.pending.signal.aborted ? 'figure.cancel' : 'figure.measure');
    if (status !== undefined) this.status.textContent = status;
  }

  private build(): void {
    const { texts, info } = this;
    const { editor } = this.options.room;
    this.knobs = knobs(info.settings.filter(({ name }) => !editor?.settings.includes(name) && !this.options.hidden(name)), texts, {
      words: (spec) => this.options.room.knobWords(spec, texts),
      clamp: this.options.clamp,
      turn: (name, value, settled) => this.turn(name, value, settled),
    });
    this.knobs.show(this.settings);
    const defaults = Object.fromEntries(info.settings.map((spec) => [spec.name, spec.default]));
    this.editor = editor?.make(defaults, texts,
      (settings, settled = true) => this.change(this.withoutDefaults({ ...this.settings, ...settings }), settled), this.options.engine);
    this.editor?.show(this.settings);
    const numbers = element('details', { class: 'numbers-fold' }, element('summary', {}, texts.say('figure.numbers')), this.numbers);
    const above = this.editor?.above ? [this.editor.root] : [];
    const controls = this.editor && !this.editor.above ? [this.editor.root, this.knobs.root] : [this.knobs.root];
    if (this.options.room.summary) controls.push(this.summary);
    if (this.options.room.byHand) {
      this.startButton = element('button', { type: 'button', class: 'start', click: () => this.startOrStop() });
      controls.unshift(element('p', { class: 'buttons' }, this.startButton));
      this.showStart(this.data || this.computing ? undefined : texts.say('figure.unmeasured'));
    }
    this.stopButton.textContent = texts.say('figure.stop');
    const statusRow = element('div', { class: 'status-row' }, this.status, ...(this.options.room.byHand ? [] : [this.stopButton]));
    this.options.host.replaceChildren(...above, this.panels, statusRow, ...controls, numbers, this.foot());
    this.showCommand();
  }

  private foot(): HTMLElement {
    const { texts, info } = this;
    const save = (format: string, make: () => Blob | Promise<Blob>) => element('button', {
      type: 'button', class: 'quiet', title: texts.say('figure.export', { format }),
      click: () => void Promise.resolve(make()).then((blob) => download(blob, `${info.name}.${format.toLowerCase()}`), (problem) => this.stop(problem)),
    }, format);
    const buttons = element('p', { class: 'buttons' },
      element('button', { type: 'button', class: 'quiet', click: () => this.reset() }, texts.say('figure.reset')),
      copyButton(texts, texts.say('figure.link'), this.options.link),
      copyButton(texts, texts.say('figure.embed'), () => this.options.embedCode(this.settings)),
      save('SVG', () => svgFile(this.panels)),
      save('PNG', () => pngFile(this.panels)),
      save('CSV', () => new Blob([this.data ? toCsv(this.data) : ''], { type: 'text/csv' })),
      save('JSON', () => new Blob([toJson(info.name, this.whole(), this.command(), this.data)], { type: 'application/json' })));
    const notShown = element('p', { class: 'not-shown' },
      element('strong', {}, texts.say('figure.not-shown')), ' ', this.options.room.notShown(info, texts));
    return element('footer', { class: 'figure-foot' }, notShown, buttons, this.commandLine);
  }

  private whole(): Settings {
    return Object.fromEntries(this.info.settings.map(({ name, default: value }) => [name, this.settings[name] ?? value]));
  }

  private reset(): void {
    this.editor?.reset?.();
    this.change({}, true);
  }

  private turn(name: string, value: number, settled: boolean): void {
    this.change(this.withoutDefaults({ ...this.settings, [name]: value }), settled);
  }

  private withoutDefaults(settings: Settings): Settings {
    return Object.fromEntries(this.info.settings.map((spec) => [spec.name, settings[spec.name] ?? spec.default] as const)
      .filter(([name, value], i) => value !== this.info.settings[i]!.default && name in settings));
  }

  private change(settings: Settings, settled: boolean): void {
    this.set(settings);
    this.options.onSettings(settings, settled);
  }

  // One computation at a time, and always one after the last change, which drops the one under way.
  private async compute(): Promise<void> {
    this.wanted = true;
    this.showCommand();
    this.pending.abort();
    if (this.computing) return;
    this.computing = true;
    const { byHand } = this.options.room;
    if (!this.data) this.status.textContent = this.texts.say('figure.loading');
    while (this.wanted) {
      this.wanted = false;
      const { signal } = this.pending = new AbortController();
      const start = performance.now();
      try {
        const hear = (figure: Figure, progress: number) => {
          if (signal.aborted) return;
          const words = this.progressText(progress, performance.now() - start);
          if (figure.panels.some(({ series }) => series.some(({ x }) => x.length > 0))) this.show(figure, words);
          else this.status.textContent = words; // nothing is known yet: what was drawn before stays
          this.stopButton.hidden = false;
        };
        this.showStart();
        const engine = byHand ? await this.options.ownEngine() : this.options.engine;
        this.show(await this.options.room.compute(engine, this.settings, { signal, hear }), '');
      } catch (problem) {
        if (!signal.aborted) this.stop(problem);
        else if (!this.wanted) this.status.textContent = this.texts.say(byHand && !this.data ? 'figure.unmeasured' : 'figure.cancelled');
      }
      this.stopButton.hidden = true;
    }
    this.computing = false;
    this.showStart();
    for (const done of this.waiting.splice(0)) done();
  }

  // What is drawn stays; the next change computes anew.
  private cancel(): void {
    this.wanted = false;
    this.pending.abort();
  }

  private progressText(progress: number, elapsed: number): string {
    const percent = Math.floor(progress * 100);
    if (this.options.room.byHand) return this.texts.say('figure.measuring', { percent });
    const seconds = Math.ceil((elapsed / 1000) * (1 / progress - 1));
    return Number.isFinite(seconds) && seconds > 1 ? this.texts.say('figure.left', { percent, seconds }) : this.texts.say('figure.sampling', { percent });
  }

  private show(figure: Figure, status: string): void {
    this.data = figure;
    delete this.status.dataset.trouble;
    this.status.textContent = status;
    this.width = 0;
    this.draw();
  }

  private stop(problem: unknown): void {
    this.status.dataset.trouble = '';
    this.status.replaceChildren(this.texts.say('figure.stopped'), ...problemWords(problem, this.texts));
  }

  private draw(): void {
    const width = Math.floor(this.panels.clientWidth);
    if (!this.data || width === 0 || width === this.width) return;
    this.width = width;
    const { room } = this.options;
    this.panels.replaceChildren(...room.draw(this.data, { texts: this.texts, width }).map(({ svg, description }) => {
      svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', description);
      return svg;
    }));
    this.summary.replaceChildren(...room.summary?.(this.data, this.settings, this.texts) ?? []);
    this.numbers.replaceChildren(...room.tables(this.data, this.texts));
  }

  private showCommand(): void {
    this.commandLine.replaceChildren(copyable(this.command(), this.texts));
  }

  private command(): string {
    if (this.options.room.command) return this.options.room.command(this.settings, this.options.engine);
    const set = Object.entries(this.settings).map(([name, value]) => ` --set ${name}=${full(value)}`).join('');
    return `linearmem sweep ${this.info.name}${set} --csv`;
  }
}
