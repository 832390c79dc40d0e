// The module on the page's own thread, for pages whose browser or policy refuses a worker. Calls wait their turn, and the
// page gets its thread back whenever a slice of 12 ms is used up.
import { answer } from './calls.ts';
import type { Ask } from './engine.ts';
import { type Fetched, startModule } from './loader.ts';

const slice = 12; // milliseconds

export async function openInPage(fetched: Fetched): Promise<Ask> {
  const module = await startModule(fetched);
  let turn: Promise<unknown> = Promise.resolve();
  let sliceStart = performance.now();

  async function rest(): Promise<void> {
    if (performance.now() - sliceStart < slice) return;
    await new Promise((resume) => setTimeout(resume, 0));
    sliceStart = performance.now();
  }

  return (call, { hear = () => undefined, signal } = {}) => {
    const result = turn.then(rest).then(() => answer(module, call, { rest, hear, dropped: () => signal?.aborted ?? false }));
    turn = result.catch(() => undefined);
    return result;
  };
}
