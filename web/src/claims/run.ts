// The claims as they are being computed: one queue, one claim at a time, and the mistakes that are switched on.
import type { MistakeInfo } from 'linearmem';
import type { ClaimEntry } from '../../prerender/wasm_modules.ts';
import type { TimedResult } from '../engine/calls.ts';
import type { Engine } from '../engine/engine.ts';

export type RowState = 'waiting' | 'running' | 'pass' | 'fail' | 'stopped';

export interface Row {
  readonly info: ClaimEntry;
  state: RowState;
  timed?: TimedResult;
  mistakes: string[]; // with which it was computed
  problem?: unknown; // why it was not computed
}

export class ClaimsRun {
  readonly rows = new Map<string, Row>();
  readonly mistakes: MistakeInfo[];
  private readonly on = new Set<string>();
  private readonly queue = new Set<string>();
  private readonly wanted = new Set<string>();
  private readonly listeners: ((id: string | undefined) => void)[] = [];
  private pumping?: Promise<void>;

  constructor(private readonly engine: Pick<Engine, 'about' | 'verify'>) {
    this.mistakes = engine.about.mistakes;
    for (const info of engine.about.claims) this.rows.set(info.id, { info, state: 'waiting', mistakes: [] });
  }

  // Called with the id of the row that changed, and with undefined when a run starts or ends or a switch moves.
  onChange(listener: (id: string | undefined) => void): void {
    this.listeners.push(listener);
  }

  isOn(mistake: string): boolean {
    return this.on.has(mistake);
  }

  get switchedOn(): string[] {
    return this.mistakes.map(({ name }) => name).filter((name) => this.on.has(name));
  }

  touchedBy(mistakes: readonly string[]): string[] {
    return [...this.rows.values()].filter(({ info }) => mistakes.some((name) => info.mistakes.includes(name))).map(({ info }) => info.id);
  }

  get fallen(): string[] {
    return [...this.rows.values()].filter(({ state }) => state === 'fail' || state === 'stopped').map(({ info }) => info.id);
  }

  // How many have been asked for, and how many of these are computed.
  get asked(): number {
    return this.wanted.size;
  }

  get done(): number {
    return this.wanted.size - this.queue.size;
  }

  get running(): boolean {
    return this.pumping !== undefined;
  }

  get milliseconds(): number {
    return [...this.rows.values()].reduce((sum, { timed }) => sum + (timed?.milliseconds ?? 0), 0);
  }

  // Those of the ids that have not been asked for yet.
  runNew(ids: Iterable<string> = this.rows.keys()): Promise<void> {
    return this.run([...ids].filter((id) => !this.wanted.has(id)));
  }

  run(ids: Iterable<string> = this.rows.keys()): Promise<void> {
    for (const id of ids) {
      if (!this.rows.has(id) || this.queue.has(id)) continue;
      this.queue.add(id);
      this.wanted.add(id);
      this.set(id, { state: 'waiting', problem: undefined });
    }
    this.pumping ??= this.pump();
    return this.pumping;
  }

  // Computes again exactly the claims that a changed switch touches.
  switchTo(mistakes: readonly string[]): Promise<void> {
    const changed = this.mistakes.map(({ name }) => name).filter((name) => this.on.has(name) !== mistakes.includes(name));
    for (const name of changed) if (!this.on.delete(name)) this.on.add(name);
    this.tell(undefined);
    return changed.length > 0 ? this.run(this.touchedBy(changed)) : Promise.resolve();
  }

  private async pump(): Promise<void> {
    await undefined; // so that `pumping` is set before the first change is told
    this.tell(undefined);
    for (const id of this.queue) {
      await this.compute(id);
    }
    this.pumping = undefined;
    this.tell(undefined);
  }

  private async compute(id: string): Promise<void> {
    const { info } = this.rows.get(id)!;
    const mistakes = this.switchedOn.filter((name) => info.mistakes.includes(name));
    this.set(id, { state: 'running', mistakes });
    let outcome: Partial<Row>;
    try {
      const timed = await this.engine.verify(id, mistakes);
      outcome = { state: timed.result.pass ? 'pass' : 'fail', timed };
    } catch (problem) {
      outcome = { state: 'stopped', timed: undefined, problem };
    }
    const stillMeant = this.switchedOn.filter((name) => info.mistakes.includes(name)).join() === mistakes.join();
    this.queue.delete(id);
    if (!stillMeant) this.queue.add(id); // a switch moved meanwhile; the number belongs to the old position
    this.set(id, stillMeant ? outcome : { state: 'waiting' });
  }

  private set(id: string, change: Partial<Row>): void {
    Object.assign(this.rows.get(id)!, change);
    this.tell(id);
  }

  private tell(id: string | undefined): void {
    for (const listener of this.listeners) listener(id);
  }
}
