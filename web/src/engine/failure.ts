// Why the module is not there. Each kind has its own sentence in texts/*/messages.ts that says how to help.
export type FailureKind = 'no-wasm' | 'csp' | 'not-found' | 'no-answer' | 'wrong-content' | 'unsupported' | 'stale' | 'start' | 'stopped';

export type FailureDetail = Record<string, string | number>;

export class LoadFailure extends Error {
  constructor(readonly kind: FailureKind, readonly detail: FailureDetail = {}) {
    super(`${kind} ${JSON.stringify(detail)}`);
    this.name = 'LoadFailure';
  }
}

export function asLoadFailure(problem: unknown): LoadFailure {
  if (problem instanceof LoadFailure) return problem;
  return new LoadFailure('start', { reason: problem instanceof Error ? problem.message : String(problem) });
}
