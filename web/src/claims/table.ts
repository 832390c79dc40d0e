// The rows of claims, wherever on the page they stand. Those with texts are there already; the rest are made from the page's template
// and put at the end of `body`.
import { element, find } from '../dom/element.ts';
import type { Texts } from '../texts/languages.ts';
import { milliseconds } from '../texts/numbers.ts';
import { details, type DetailActions } from './details.ts';
import { type AllNotes, claimNotes, type ClaimWords, claimWords } from './notes.ts';
import type { ClaimsRun, Row } from './run.ts';
import { type Cell, computed, errorCell, expected, leadingCheck, toleranceCell, verdict } from './verdict.ts';

export class ClaimsTable {
  private readonly rows = new Map<string, HTMLTableRowElement>();
  private notes?: AllNotes;
  private words?: ClaimWords;

  constructor(
    private readonly body: HTMLElement,
    private readonly run: ClaimsRun,
    private texts: Texts,
    private readonly actions: DetailActions,
  ) {
    const template = find<HTMLTemplateElement>(document, '#claim-row');
    for (const [id, row] of run.rows) this.rows.set(id, this.rowFor(row, template));
    for (const stray of document.querySelectorAll<HTMLElement>('[data-claim]')) {
      if (!run.rows.has(stray.dataset.claim!)) stray.remove(); // this module does not have it
    }
    for (const [id, { state }] of run.rows) if (state !== 'waiting') this.show(id);
    run.onChange((id) => (id === undefined ? undefined : this.show(id)));
    void this.openFromAddress();
    addEventListener('hashchange', () => void this.openFromAddress());
  }

  speak(texts: Texts): void {
    this.texts = texts;
    for (const id of this.rows.keys()) this.show(id);
    if (this.words) void this.learnWords().then(() => this.rows.forEach((_, id) => this.refreshDetails(id)));
  }

  private async learnWords(): Promise<void> {
    this.words = await claimWords(this.texts.language);
  }

  private rowFor({ info }: Row, template: HTMLTemplateElement): HTMLTableRowElement {
    let row = document.querySelector<HTMLTableRowElement>(`[data-claim="${CSS.escape(info.id)}"]`);
    if (!row) {
      row = find<HTMLTableRowElement>(template.content, 'tr').cloneNode(true) as HTMLTableRowElement;
      row.id = row.dataset.claim = info.id;
      find(row, '.open').textContent = info.id;
      const words = find(row, '.words');
      void claimNotes().then((notes) => words.append(element('span', { lang: 'en' }, notes[info.id]!.statement)));
      this.body.append(row);
    }
    const button = find<HTMLButtonElement>(row, '.open');
    button.disabled = false;
    button.addEventListener('click', () => void this.toggle(info.id));
    return row;
  }

  private show(id: string): void {
    const row = this.run.rows.get(id)!;
    const line = this.rows.get(id)!;
    const checks = row.timed?.result.checks ?? [];
    const lead = row.state === 'pass' || row.state === 'fail' ? leadingCheck(checks) : undefined;
    line.dataset.state = row.state;
    put(line, 'expected', checks.length > 0 ? expected(checks, this.texts) : undefined);
    put(line, 'computed', lead && computed(checks, this.texts));
    put(line, 'error', lead && errorCell(lead, this.texts));
    put(line, 'tolerance', lead && toleranceCell(lead, this.texts));
    put(line, 'time', row.timed && lead ? { shown: milliseconds(row.timed.milliseconds), full: `${row.timed.milliseconds} ms` } : undefined);
    const cell = find(line, '.verdict .value');
    cell.replaceChildren(element('strong', {}, this.texts.say(`verdict.word-${row.state}`)), ' ', ...verdict(row, this.texts));
    this.refreshDetails(id);
  }

  private async toggle(id: string, open = !this.isOpen(id)): Promise<void> {
    const line = this.rows.get(id)!;
    find(line, '.open').setAttribute('aria-expanded', String(open));
    if (!open) return this.detailsRow(id)?.remove();
    void this.run.runNew([id]);
    this.notes ??= await claimNotes();
    if (!this.words) await this.learnWords();
    if (this.isOpen(id)) return;
    const cell = element('td', { role: 'cell', colspan: 7 });
    line.after(element('tr', { role: 'row', class: 'claim-details', id: `${id}-details` }, cell));
    find(line, '.open').setAttribute('aria-controls', `${id}-details`);
    this.refreshDetails(id);
  }

  private isOpen(id: string): boolean {
    return this.detailsRow(id) !== null;
  }

  private detailsRow(id: string): HTMLElement | null {
    return document.getElementById(`${id}-details`);
  }

  private refreshDetails(id: string): void {
    const row = this.run.rows.get(id)!;
    const cell = this.detailsRow(id)?.firstElementChild;
    if (!cell || !this.notes || !this.words) return;
    const pending = row.state === 'waiting' || row.state === 'running';
    if (pending && cell.hasChildNodes()) return; // keep what is shown until the new numbers are there
    const focused = [...cell.querySelectorAll('button')].findIndex((button) => button === document.activeElement);
    cell.replaceChildren(details(row, { notes: this.notes[id]!, words: this.words }, this.texts, this.actions));
    if (focused >= 0) cell.querySelectorAll('button')[focused]?.focus({ preventScroll: true });
  }

  private async openFromAddress(): Promise<void> {
    const id = decodeURIComponent(location.hash.slice(1));
    if (!this.rows.has(id)) return;
    await this.toggle(id, true);
    this.rows.get(id)!.scrollIntoView({ block: 'start' });
  }
}

function put(line: HTMLElement, name: string, cell: Cell | undefined): void {
  const value = find(line, `.${name} .value`);
  value.textContent = cell?.shown ?? '';
  if (cell && cell.full !== '' && cell.full !== cell.shown) value.title = cell.full;
  else value.removeAttribute('title');
}
