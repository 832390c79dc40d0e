// What the page may ask of the module, and the answer, wherever the module runs.
import type { ClaimResult, Figure, Ledger, LinearMemModule } from 'linearmem';
import type { FailureDetail, FailureKind } from './failure.ts';

export type Simd = 'auto' | 'off';

export interface About {
  buildId: string;
  target: string;
}

export interface TimedResult {
  result: ClaimResult;
  milliseconds: number;
}

export type Call =
  | { name: 'about' }
  | { name: 'verify'; id: string; mistakes: string[] }
  | { name: 'experiment'; experiment: string; settings: Record<string, number> }
  | { name: 'ledger'; model: string; config: string; settings: Record<string, number> };

export type Answer<C extends Call> = C extends { name: 'about' } ? About : C extends { name: 'verify' } ? TimedResult
  : C extends { name: 'ledger' } ? Ledger : Figure;

export interface Slices {
  rest(): Promise<void>; // gives whoever else needs the thread a turn
  dropped(): boolean; // nobody waits for the figure any more
  hear(figure: Figure, progress: number): void; // what is known so far
}

const slice = 25; // milliseconds
const between = 200; // milliseconds from one unfinished figure to the next

// The module holds one experiment under way, so an answer must have come before the next call begins.
export async function answer<C extends Call>(module: LinearMemModule, call: C, slices: Slices): Promise<Answer<C>> {
  return await answerAny(module, call, slices) as Answer<C>;
}

async function answerAny(module: LinearMemModule, call: Call, slices: Slices): Promise<About | TimedResult | Figure | Ledger> {
  switch (call.name) {
    case 'about':
      return { buildId: module.buildId(), target: module.target() };
    case 'verify': {
      const start = performance.now();
      const result = module.verify(call.id, call.mistakes);
      return { result, milliseconds: performance.now() - start };
    }
    case 'experiment':
      return await inSlices(module, call.experiment, call.settings, slices);
    case 'ledger':
      return module.ledger(call.model, call.config, call.settings);
  }
}

async function inSlices(module: LinearMemModule, name: string, settings: Record<string, number>, { rest, dropped, hear }: Slices): Promise<Figure> {
  let heard = performance.now();
  const timing = module.timings?.().some((info) => info.name === name);
  let progress = dropped() ? 0 : timing ? module.startTiming(name, settings) : module.startExperiment(name, settings);
  while (progress < 1) {
    if (dropped()) throw new Error('dropped');
    progress = module.stepExperiment(slice);
    if (progress === 1) break;
    if (performance.now() - heard > between) {
      hear(module.figureSoFar(), progress);
      heard = performance.now();
    }
    await rest();
  }
  return module.figureSoFar();
}

// Messages between page and worker; the worker speaks only when it is spoken to, since it may be there before the page listens. A call
// names the module it is for, which must be open.
export type ToWorker =
  | { greet: true; number: number }
  | { open: string; simd: Simd; number: number } // answered with the name of what was opened
  | { call: Call; to: string; number: number }
  | { drop: number };
export type FromWorker =
  | { number: number; value: unknown }
  | { number: number; figure: Figure; progress: number }
  | { number: number; problem: string }
  | { number: number; failed: { kind: FailureKind; detail: FailureDetail } };
