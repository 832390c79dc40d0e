// The module as the page sees it: asynchronous, in a worker where there can be one, otherwise in the page.
import type { Figure, Ledger } from 'linearmem';
import type { About, Answer, Call, TimedResult } from './calls.ts';
import { fetchModule } from './loader.ts';
import { Thread } from './thread.ts';

// For answers that take time: what is known so far, and a way to say that nobody waits any more (the answer then is an error).
export interface Hearing {
  hear?(figure: Figure, progress: number): void;
  signal?: AbortSignal;
}

export interface Engine {
  readonly about: About;
  readonly place: 'worker' | 'page';
  verify(id: string, mistakes: string[]): Promise<TimedResult>;
  experiment(name: string, settings: Record<string, number>, hearing?: Hearing): Promise<Figure>;
  // Of the text of a config.json, which the answer calls `model`; of the named model where `config` is empty.
  ledger(model: string, config: string, settings: Record<string, number>): Promise<Ledger>;
}

export async function openEngine(simd: 'auto' | 'off' = 'auto'): Promise<Engine> {
  const thread = Thread.start(); // its script travels while the module does
  try {
    const fetched = await fetchModule(simd);
    if (thread && await thread.open(fetched)) return await engineOf((call, hearing) => thread.ask(call, hearing), 'worker');
    thread?.end();
    const { openInPage } = await import('./in_page.ts');
    return await engineOf(await openInPage(fetched), 'page');
  } catch (problem) {
    thread?.end();
    throw problem;
  }
}

export type Ask = <C extends Call>(call: C, hearing?: Hearing) => Promise<Answer<C>>;

async function engineOf(ask: Ask, place: Engine['place']): Promise<Engine> {
  return {
    about: await ask({ name: 'about' }),
    place,
    verify: (id, mistakes) => ask({ name: 'verify', id, mistakes }),
    experiment: (experiment, settings, hearing) => ask({ name: 'experiment', experiment, settings }, hearing),
    ledger: (model, config, settings) => ask({ name: 'ledger', model, config, settings }),
  };
}
