// The page's first answer: how many statements hold, how far the run is, where the module runs, or why it does not.
import type { ClaimsRun } from '../claims/run.ts';
import { find } from '../dom/element.ts';
import type { Engine } from '../engine/engine.ts';
import type { LoadFailure } from '../engine/failure.ts';
import type { MessageKey, Texts } from '../texts/languages.ts';
import { milliseconds } from '../texts/numbers.ts';
import { failureWords, type Words } from '../texts/problems.ts';

export class StatusPanel {
  private run?: ClaimsRun;
  private engine?: Engine;
  private failure?: LoadFailure;

  constructor(private readonly panel: HTMLElement, private texts: Texts) {
    this.show();
  }

  speak(texts: Texts): void {
    this.texts = texts;
    this.show();
  }

  follow(run: ClaimsRun, engine: Engine): void {
    this.run = run;
    this.engine = engine;
    run.onChange(() => this.show());
    this.show();
  }

  fail(failure: LoadFailure): void {
    this.failure = failure;
    this.show();
  }

  private show(): void {
    const { run, failure, texts } = this;
    const bar = find<HTMLProgressElement>(this.panel, 'progress');
    this.panel.dataset.state = failure ? 'stopped' : !run || run.running ? 'running' : run.fallen.length > 0 ? 'fail' : 'pass';
    bar.hidden = failure !== undefined || !run?.running;
    if (run) {
      bar.max = run.asked;
      bar.value = run.done;
      bar.setAttribute('aria-label', texts.say('run.progress', { done: run.done, total: run.asked }));
    }
    put(find(this.panel, '.summary'), failure ? failureWords(failure, texts) : [this.summary()]);
    put(find(this.panel, '.engine'), [this.where()]);
  }

  private summary(): string {
    const { run, texts } = this;
    if (!run) return texts.say('engine.loading');
    const total = run.rows.size;
    if (run.running) return texts.say('run.running', { done: run.done, total: run.asked });
    const { fallen } = run;
    if (fallen.length > 0) return texts.say('run.some-fall', { fallen: fallen.length, total: run.asked, ids: fallen.join(', ') });
    if (run.asked < total) return texts.say('run.some-hold', { done: run.done, left: total - run.done, time: milliseconds(run.milliseconds) });
    return texts.say('run.all-hold', { total, time: milliseconds(run.milliseconds) });
  }

  private where(): string {
    const { engine, texts } = this;
    if (!engine) return '';
    const { buildId, target } = engine.about;
    const place = texts.say(engine.place === 'worker' ? 'engine.in-worker' : 'engine.in-page');
    return texts.say('engine.ready', { build: buildId, target: texts.say(`target.${target}` as MessageKey), place });
  }
}

function put(node: HTMLElement, words: Words): void {
  const text = words.map((one) => (typeof one === 'string' ? one : one.textContent)).join('');
  if (node.textContent !== text) node.replaceChildren(...words); // an unchanged status is not read out again
}
