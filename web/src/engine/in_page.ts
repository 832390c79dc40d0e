// Modules on the page's own thread, for pages whose browser or policy refuses a worker. Calls wait their turn, and the page gets
// its thread back whenever a slice of 12 ms is used up.
import type { LinearMemModule } from 'linearmem';
import { answer } from './calls.ts';
import type { Place } from './engine.ts';
import { startModule } from './loader.ts';

const slice = 12; // milliseconds

export function placeInPage(): Place {
  const modules = new Map<string, LinearMemModule>();
  let turn: Promise<unknown> = Promise.resolve();
  let sliceStart = performance.now();

  async function rest(): Promise<void> {
    if (performance.now() - sliceStart < slice) return;
    await new Promise((resume) => setTimeout(resume, 0));
    sliceStart = performance.now();
  }

  return {
    open: async (fetched) => { modules.set(fetched.name, await startModule(fetched)); },
    ask: (to, call, { hear = () => undefined, signal } = {}) => {
      const result = turn.then(rest).then(() => answer(modules.get(to)!, call, { rest, hear, dropped: () => signal?.aborted ?? false }));
      turn = result.catch(() => undefined);
      return result;
    },
  };
}
