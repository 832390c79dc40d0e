// The switches that make a tempting mistake, and the list of what falls by it.
import { copyable } from '../dom/copy.ts';
import { element, find } from '../dom/element.ts';
import type { Texts } from '../texts/languages.ts';
import { verifyCommand } from './report.ts';
import type { ClaimsRun } from './run.ts';
import { computed, expected, leadingCheck, sentence } from './verdict.ts';

export class BreakIt {
  private readonly items = new Map<string, HTMLElement>();
  private readonly mend: HTMLButtonElement;

  constructor(
    private readonly panel: HTMLElement,
    private readonly run: ClaimsRun,
    private texts: Texts,
    private readonly onSwitch: (mistakes: string[]) => void,
  ) {
    const list = find(panel, '.mistakes');
    const template = find<HTMLTemplateElement>(document, '#mistake-row');
    for (const { name, meaning } of run.mistakes) this.items.set(name, this.itemFor(name, meaning, list, template));
    for (const stray of list.querySelectorAll<HTMLElement>('[data-mistake]')) {
      if (!this.items.has(stray.dataset.mistake!)) stray.remove();
    }
    this.mend = find<HTMLButtonElement>(panel, '.mend');
    this.mend.addEventListener('click', () => onSwitch([]));
    run.onChange(() => this.show());
    this.show();
  }

  speak(texts: Texts): void {
    this.texts = texts;
    this.show();
  }

  label(name: string): string {
    const label = find(this.items.get(name) ?? this.panel, '.label');
    return (label.querySelector(`[lang|="${this.texts.language}"]`) ?? label).textContent ?? name;
  }

  private itemFor(name: string, meaning: string, list: HTMLElement, template: HTMLTemplateElement): HTMLElement {
    let item = list.querySelector<HTMLElement>(`[data-mistake="${CSS.escape(name)}"]`);
    if (!item) {
      item = find(template.content, 'li').cloneNode(true) as HTMLElement;
      item.dataset.mistake = name;
      find(item, '.label').append(name);
      find(item, '.why').append(element('span', { lang: 'en' }, meaning));
      list.append(item);
    }
    item.append(element('p', { class: 'touches' }));
    const box = find<HTMLInputElement>(item, 'input');
    box.disabled = false;
    box.addEventListener('change', () => {
      const others = this.run.switchedOn.filter((other) => other !== name);
      this.onSwitch(box.checked ? [...others, name] : others);
    });
    return item;
  }

  private show(): void {
    const { run, texts } = this;
    for (const [name, item] of this.items) {
      const on = run.isOn(name);
      find<HTMLInputElement>(item, 'input').checked = on;
      item.classList.toggle('on', on);
      const ids = run.touchedBy([name]);
      find(item, '.touches').textContent = ids.length > 0
        ? texts.say('break.touches', { ids: ids.join(', ') }) : texts.say('break.touches-none');
    }
    this.mend.disabled = run.switchedOn.length === 0;
    this.showFallen();
  }

  private showFallen(): void {
    const { run, texts } = this;
    const on = run.switchedOn;
    const touched = run.touchedBy(on);
    const fallen = touched.filter((id) => run.rows.get(id)!.state === 'fail');
    const count = { fallen: fallen.length, touched: touched.length };
    const summary = on.length === 0 ? texts.say('break.none') : texts.say(on.length > 1 ? 'break.fell-many' : 'break.fell', count);
    const status = find(this.panel, '.break-summary');
    if (!run.running && status.textContent !== summary) status.textContent = summary;
    const command = find(this.panel, '.break-command');
    const key = `${texts.language} ${on.join()}`;
    if (command.dataset.key !== key) {
      command.dataset.key = key; // so that a finger on its button is not disturbed by every row
      command.replaceChildren(...(on.length > 0 ? [copyable(verifyCommand([], on), texts)] : []));
    }
    find(this.panel, '.fallen').replaceChildren(...fallen.map((id) => this.fallenLine(id)));
  }

  private fallenLine(id: string): HTMLElement {
    const checks = this.run.rows.get(id)!.timed!.result.checks;
    const lead = leadingCheck(checks)!;
    const numbers = this.texts.say('details.numbers', {
      expected: expected([lead], this.texts).shown, computed: computed([lead], this.texts).shown, verdict: sentence(lead, this.texts),
    });
    return element('li', {}, element('span', { class: 'mark', 'aria-hidden': 'true' }), element('a', { href: `#${id}` }, id), ' ', numbers);
  }
}
