// What the page may ask of the module, and the answer, wherever the module runs.
import type { ClaimInfo, ClaimResult, ExperimentInfo, Figure, LinearMemModule, MistakeInfo } from 'linearmem';

export interface About {
  buildId: string;
  target: string;
  claims: ClaimInfo[];
  mistakes: MistakeInfo[];
  experiments: ExperimentInfo[];
}

export interface TimedResult {
  result: ClaimResult;
  milliseconds: number;
}

export type Call =
  | { name: 'about' }
  | { name: 'verify'; id: string; mistakes: string[] }
  | { name: 'experiment'; experiment: string; settings: Record<string, number> };

export type Answer<C extends Call> = C extends { name: 'about' } ? About : C extends { name: 'verify' } ? TimedResult : Figure;

export function answer<C extends Call>(module: LinearMemModule, call: C): Answer<C> {
  return answerAny(module, call) as Answer<C>;
}

function answerAny(module: LinearMemModule, call: Call): About | TimedResult | Figure {
  switch (call.name) {
    case 'about':
      return {
        buildId: module.buildId(), target: module.target(),
        claims: module.claims(), mistakes: module.mistakes(), experiments: module.experiments(),
      };
    case 'verify': {
      const start = performance.now();
      const result = module.verify(call.id, call.mistakes);
      return { result, milliseconds: performance.now() - start };
    }
    case 'experiment':
      return module.experiment(call.experiment, call.settings);
  }
}

// Messages between page and worker.
export type ToWorker = { open: { name: 'simd' | 'scalar'; bytes: ArrayBuffer } } | { call: Call; number: number };
export type FromWorker =
  | { opened: true }
  | { failed: { kind: string; detail: Record<string, string | number> } }
  | { number: number; value: unknown }
  | { number: number; problem: string };
