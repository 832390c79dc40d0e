// The page's end of the worker: open it, ask it, and notice when it is refused or breaks.
import type { Answer, Call, FromWorker, ToWorker } from './calls.ts';
import type { Hearing } from './engine.ts';
import { type FailureKind, LoadFailure } from './failure.ts';
import { type Fetched, patience } from './loader.ts';

interface Caller {
  resolve(value: unknown): void;
  reject(problem: Error): void;
  hear?: Hearing['hear'];
}

export class Thread {
  private readonly callers = new Map<number, Caller>();
  private readonly opened: Promise<boolean>;
  private settle!: Caller;
  private calls = 0;

  // undefined where the browser refuses outright: an opaque origin, or a policy.
  static start(): Thread | undefined {
    try {
      return new Thread(new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }));
    } catch {
      return undefined;
    }
  }

  private constructor(private readonly worker: Worker) {
    this.opened = new Promise((resolve, reject) => {
      this.settle = { resolve: resolve as (value: unknown) => void, reject };
    });
    this.opened.catch(() => undefined); // whoever opens hears of it; the module's own failure may come first
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    worker.onerror = (event) => { // a script that answers 404 says so here, perhaps before the module has arrived
      event.preventDefault();
      this.breakOff('the worker stopped');
    };
  }

  // False where the worker does not come up; a LoadFailure where it does and the module is at fault.
  async open(fetched: Fetched): Promise<boolean> {
    this.worker.postMessage({ open: fetched } satisfies ToWorker);
    const timer = setTimeout(() => this.settle.resolve(false), patience);
    return this.opened.finally(() => clearTimeout(timer));
  }

  ask<C extends Call>(call: C, { hear, signal }: Hearing = {}): Promise<Answer<C>> {
    return new Promise((resolve, reject) => {
      const number = this.calls += 1;
      this.callers.set(number, { resolve: resolve as (value: unknown) => void, reject, hear });
      this.worker.postMessage({ call, number } satisfies ToWorker);
      signal?.addEventListener('abort', () => this.worker.postMessage({ drop: number } satisfies ToWorker));
    });
  }

  end(): void {
    this.worker.terminate();
    this.breakOff('the worker was ended');
  }

  private receive(message: FromWorker): void {
    if ('opened' in message) this.settle.resolve(true);
    else if ('failed' in message) this.fail(message.failed.kind as FailureKind, message.failed.detail);
    else if ('figure' in message) this.callers.get(message.number)?.hear?.(message.figure, message.progress);
    else {
      const caller = this.callers.get(message.number);
      this.callers.delete(message.number);
      if ('problem' in message) caller?.reject(new Error(message.problem));
      else caller?.resolve(message.value);
    }
  }

  // A worker obeys the policy its own script was served with, so a refusal there says nothing about the page.
  private fail(kind: FailureKind, detail: LoadFailure['detail']): void {
    if (kind === 'csp') this.settle.resolve(false);
    else this.settle.reject(new LoadFailure(kind, detail));
  }

  private breakOff(reason: string): void {
    this.settle.resolve(false);
    for (const caller of this.callers.values()) caller.reject(new Error(reason));
    this.callers.clear();
  }
}
