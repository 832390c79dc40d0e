// Modules on the page's own thread, for pages whose browser or policy refuses a worker. Figures wait their turn, all else
// only for its kind, and the page gets its thread back whenever a slice of 12 ms is used up.
import type { LinearMemModule } from 'linearmem';
import { answer } from './calls.ts';
import type { Place } from './engine.ts';
import { fetchModule, startModule } from './loader.ts';

const slice = 12; // milliseconds

export function placeInPage(): Place {
  const modules = new Map<string, LinearMemModule>();
  const turns: Record<'figures' | 'others', Promise<unknown>> = { figures: Promise.resolve(), others: Promise.resolve() };
  let sliceStart = performance.now();

  async function rest(): Promise<void> {
    if (performance.now() - sliceStart < slice) return;
    await new Promise((resume) => setTimeout(resume, 0));
    sliceStart = performance.now();
  }

  return {
    open: async (part, simd) => {
      const fetched = await fetchModule(part, simd);
      if (!modules.has(fetched.name)) modules.set(fetched.name, await startModule(fetched));
      return fetched.name;
    },
    ask: (to, call, { hear = () => undefined, signal } = {}) => {
      const lane = call.name === 'experiment' ? 'figures' : 'others';
      const result = turns[lane].then(rest).then(() => answer(modules.get(to)!, call, { rest, hear, dropped: () => signal?.aborted ?? false }));
      turns[lane] = result.catch(() => undefined);
      return result;
    },
  };
}
