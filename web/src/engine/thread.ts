// The page's end of the worker: have it open modules, ask them, and notice when it is refused or breaks.
import type { Answer, Call, FromWorker, Simd, ToWorker } from './calls.ts';
import type { Hearing, Place } from './engine.ts';
import { LoadFailure } from './failure.ts';
import { patience } from './patience.ts';
import { type EarlyWorker, startWorker } from './start_worker.ts';

interface Caller {
  resolve(value: unknown): void;
  reject(problem: Error): void;
  hear?: Hearing['hear'];
}

export class Thread implements Place {
  private readonly callers = new Map<number, Caller>();
  private broken?: Error;
  private there?: Promise<void>;
  private calls = 0;

  // undefined where the browser refuses outright: an opaque origin, or a policy.
  static start(): Thread | undefined {
    try {
      return new Thread(startWorker());
    } catch {
      return undefined;
    }
  }

  private constructor(private readonly worker: EarlyWorker) {
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    worker.onerror = (event) => { // a script that answers 404 says so here, perhaps before the module has arrived
      event.preventDefault();
      this.breakOff();
    };
    if (worker.broken) this.breakOff();
  }

  // A LoadFailure where the module is at fault, another error where the worker does not come up. Fetching has a patience of its own.
  async open(part: string, simd: Simd): Promise<string> {
    this.there ??= this.greet();
    const [name] = await Promise.all([this.send((number) => ({ open: part, simd, number })), this.there]);
    return name as string;
  }

  private async greet(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the worker does not answer')), patience);
    });
    await Promise.race([this.send((number) => ({ greet: true, number })), late]).finally(() => clearTimeout(timer));
  }

  ask<C extends Call>(to: string, call: C, { hear, signal }: Hearing = {}): Promise<Answer<C>> {
    if (signal?.aborted) return Promise.reject(new Error('dropped'));
    return this.send((number) => {
      signal?.addEventListener('abort', () => this.worker.postMessage({ drop: number } satisfies ToWorker));
      return { call, to, number };
    }, hear) as Promise<Answer<C>>;
  }

  end(): void {
    this.worker.terminate();
    this.breakOff();
  }

  private send(message: (number: number) => ToWorker, hear?: Hearing['hear']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.broken) return reject(this.broken);
      const number = this.calls += 1;
      this.callers.set(number, { resolve, reject, hear });
      this.worker.postMessage(message(number));
    });
  }

  private receive(message: FromWorker): void {
    const caller = this.callers.get(message.number);
    if ('figure' in message) return caller?.hear?.(message.figure, message.progress);
    this.callers.delete(message.number);
    if ('problem' in message) caller?.reject(new Error(message.problem));
    else if ('failed' in message) caller?.reject(new LoadFailure(message.failed.kind, message.failed.detail));
    else caller?.resolve(message.value);
  }

  private breakOff(): void {
    this.broken = new LoadFailure('stopped');
    for (const caller of this.callers.values()) caller.reject(this.broken);
    this.callers.clear();
  }
}
