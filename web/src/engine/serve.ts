// The worker's side: fetches and opens modules by itself, then answers calls: figures one after the other, all else at once.
import type { LinearMemModule } from 'linearmem';
import { answer, type Call, type FromWorker, type Simd, type ToWorker } from './calls.ts';
import { asLoadFailure } from './failure.ts';
import { fetchModule, type Fetched, startModule } from './loader.ts';

export interface Scope {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

// `early` is a module that will be asked for, fetched before anybody asks.
export function serveCalls(scope: Scope, early?: { part: string; simd: Simd }): void {
  const modules = new Map<string, LinearMemModule>();
  const fetching = new Map<string, Promise<Fetched>>();
  const dropped = new Set<number>();
  let turn: Promise<unknown> = Promise.resolve();
  const post = (message: FromWorker) => scope.postMessage(message);

  function fetched(part: string, simd: Simd): Promise<Fetched> {
    const key = `${simd} ${part}`;
    const known = fetching.get(key) ?? fetchModule(part, simd);
    fetching.set(key, known);
    known.catch(() => undefined).finally(() => fetching.delete(key)); // asked again, it is fetched again
    return known;
  }

  async function open(part: string, simd: Simd): Promise<string> {
    const found = await fetched(part, simd);
    if (!modules.has(found.name)) modules.set(found.name, await startModule(found));
    return found.name;
  }

  function respond(call: Call, to: string, number: number): Promise<unknown> {
    const module = modules.get(to);
    if (!module) throw new Error(`the module ${to} is not open`);
    return answer(module, call, {
      rest: () => new Promise((resume) => setTimeout(resume, 0)), // a message to drop it gets in here
      dropped: () => dropped.has(number),
      hear: (figure, progress) => post({ number, figure, progress }),
    });
  }

  async function opened(part: string, simd: Simd, number: number): Promise<void> {
    try {
      post({ number, value: await open(part, simd) });
    } catch (problem) {
      const { kind, detail } = asLoadFailure(problem);
      post({ number, failed: { kind, detail } });
    }
  }

  async function answered(call: Call, to: string, number: number): Promise<void> {
    try {
      post({ number, value: await respond(call, to, number) });
    } catch (problem) {
      post({ number, problem: problem instanceof Error ? problem.message : String(problem) });
    }
    dropped.delete(number);
  }

  scope.onmessage = (event: MessageEvent<ToWorker>) => {
    const message = event.data;
    if ('drop' in message) dropped.add(message.drop);
    else if ('greet' in message) post({ number: message.number, value: undefined });
    else if ('open' in message) void opened(message.open, message.simd, message.number); // fetched while others compute
    else if (message.call.name !== 'experiment') void answered(message.call, message.to, message.number); // short: between a figure's slices
    else turn = turn.then(() => answered(message.call, message.to, message.number));
  };
  if (early) void fetched(early.part, early.simd).catch(() => undefined); // told when it is asked for
}
