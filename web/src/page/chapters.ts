// The chapters while the page runs: each says of the claims it rests on whether they hold here, and has the switches of the mistakes
// that fell them. Statements and switches are those of the tables further down, copied when a chapter comes near.
import { verifyCommand } from '../claims/report.ts';
import type { ClaimsRun } from '../claims/run.ts';
import { verdict } from '../claims/verdict.ts';
import { copyable } from '../dom/copy.ts';
import { element, find } from '../dom/element.ts';
import type { Texts } from '../texts/languages.ts';
import { whenNear } from './near.ts';

export interface ChapterActions {
  onSwitch(mistakes: string[]): void;
  onTry(search: string, figure: string): void;
}

export class Chapters {
  private readonly outcomes = new Map<string, HTMLElement[]>(); // of a claim, wherever it is a ground
  private readonly boxes = new Map<string, HTMLInputElement>(); // of a mistake
  private readonly all = [...document.querySelectorAll<HTMLElement>('.chapter')];

  constructor(private readonly run: ClaimsRun, private texts: Texts, private readonly actions: ChapterActions) {
    for (const row of document.querySelectorAll<HTMLElement>('[data-ground]')) {
      const id = row.dataset.ground!;
      if (run.rows.has(id)) this.outcomes.set(id, [...this.outcomes.get(id) ?? [], row]);
      else row.remove(); // this module does not have it
    }
    this.offerTries();
    this.fillWhenNear();
    run.onChange((id) => (id === undefined ? this.show() : this.showOutcome(id)));
    for (const id of this.outcomes.keys()) this.showOutcome(id);
    this.show();
  }

  speak(texts: Texts): void {
    this.texts = texts;
    for (const id of this.outcomes.keys()) this.showOutcome(id);
    this.show();
  }

  private offerTries(): void {
    for (const link of document.querySelectorAll<HTMLAnchorElement>('[data-try]')) {
      link.addEventListener('click', (event) => {
        event.preventDefault();
        this.actions.onTry(link.search, link.hash.slice(1));
      });
    }
  }

  private fillWhenNear(): void {
    whenNear(this.all, (chapter) => this.fill(chapter), '1500px');
  }

  private fill(chapter: HTMLElement): void {
    for (const row of chapter.querySelectorAll<HTMLElement>('[data-ground]')) {
      const statement = document.querySelector(`#${CSS.escape(row.dataset.ground!)} .words`);
      if (statement) find(row, '.words').replaceChildren(statement.cloneNode(true));
    }
    for (const place of chapter.querySelectorAll<HTMLElement>('[data-switch]')) this.fillSwitch(place);
  }

  private fillSwitch(place: HTMLElement): void {
    const name = place.dataset.switch!;
    const original = document.querySelector(`[data-mistake="${CSS.escape(name)}"]`);
    if (!original) return void place.remove();
    const copy = original.cloneNode(true) as HTMLElement;
    find(copy, '.touches').remove();
    place.className = 'mistake';
    place.replaceChildren(...copy.childNodes);
    const box = find<HTMLInputElement>(place, 'input');
    box.disabled = false;
    box.addEventListener('change', () => {
      const others = this.run.switchedOn.filter((other) => other !== name);
      this.actions.onSwitch(box.checked ? [...others, name] : others);
    });
    this.boxes.set(name, box);
    this.showSwitch(name);
  }

  private showSwitch(name: string): void {
    const box = this.boxes.get(name)!;
    box.checked = this.run.isOn(name);
    box.closest('.mistake')!.classList.toggle('on', box.checked);
  }

  private showOutcome(id: string): void {
    const row = this.run.rows.get(id)!;
    for (const place of this.outcomes.get(id) ?? []) {
      place.dataset.state = row.state;
      find(place, '.outcome').replaceChildren(element('strong', {}, this.texts.say(`verdict.word-${row.state}`)), ' ', ...verdict(row, this.texts));
      this.showTally(place.closest<HTMLElement>('.grounds')!);
    }
  }

  private show(): void {
    for (const name of this.boxes.keys()) this.showSwitch(name);
    for (const chapter of this.all) this.showCommand(chapter);
  }

  private idsOf(root: HTMLElement): string[] {
    return [...root.querySelectorAll<HTMLElement>('[data-ground]')].map((row) => row.dataset.ground!);
  }

  private showTally(grounds: HTMLElement): void {
    const states = this.idsOf(grounds).map((id) => this.run.rows.get(id)!.state);
    const count = states.length;
    const fallen = states.filter((state) => state === 'fail' || state === 'stopped').length;
    const done = states.filter((state) => state === 'pass').length + fallen === count;
    const key = fallen > 0 ? 'course.fall' : !done ? 'course.waiting' : count === 1 ? 'course.holds' : 'course.hold';
    const tally = find(grounds, '.tally');
    tally.textContent = this.texts.say(key, { count, fallen });
    tally.dataset.state = fallen > 0 ? 'fail' : done ? 'pass' : 'waiting';
  }

  private showCommand(chapter: HTMLElement): void {
    const place = chapter.querySelector<HTMLElement>('.grounds-command');
    if (!place) return;
    const on = this.run.switchedOn.filter((name) => this.run.touchedBy([name]).some((id) => this.idsOf(chapter).includes(id)));
    const key = `${this.texts.language} ${on.join()}`;
    if (place.dataset.key === key) return;
    place.dataset.key = key;
    place.replaceChildren(copyable(verifyCommand(this.idsOf(chapter), on), this.texts));
  }
}
