// The module as the page sees it: asynchronous, in a worker where there can be one, otherwise in the page.
import type { Figure } from 'linearmem';
import type { About, Answer, Call, TimedResult } from './calls.ts';
import { fetchModule } from './loader.ts';
import { Thread } from './thread.ts';

export interface Engine {
  readonly about: About;
  readonly place: 'worker' | 'page';
  verify(id: string, mistakes: string[]): Promise<TimedResult>;
  experiment(name: string, settings: Record<string, number>): Promise<Figure>;
}

export async function openEngine(simd: 'auto' | 'off' = 'auto'): Promise<Engine> {
  const thread = Thread.start(); // its script travels while the module does
  try {
    const fetched = await fetchModule(simd);
    if (thread && await thread.open(fetched)) return await engineOf((call) => thread.ask(call), 'worker');
    thread?.end();
    const { openInPage } = await import('./in_page.ts');
    return await engineOf(await openInPage(fetched), 'page');
  } catch (problem) {
    thread?.end();
    throw problem;
  }
}

type Ask = <C extends Call>(call: C) => Promise<Answer<C>>;

async function engineOf(ask: Ask, place: Engine['place']): Promise<Engine> {
  return {
    about: await ask({ name: 'about' }),
    place,
    verify: (id, mistakes) => ask({ name: 'verify', id, mistakes }),
    experiment: (experiment, settings) => ask({ name: 'experiment', experiment, settings }),
  };
}
