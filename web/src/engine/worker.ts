// The module's thread: opens it once, then answers calls in the order they came.
import type { LinearMemModule } from 'linearmem';
import { answer, type Call, type FromWorker, type ToWorker } from './calls.ts';
import { asLoadFailure } from './failure.ts';
import { type Fetched, startModule } from './loader.ts';

let module: LinearMemModule | undefined;
let turn: Promise<unknown> = Promise.resolve();
const dropped = new Set<number>();

const post = (message: FromWorker) => self.postMessage(message);

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ('drop' in message) dropped.add(message.drop);
  else turn = turn.then(() => ('open' in message ? open(message.open) : respond(message.call, message.number)));
};

async function open(fetched: Fetched): Promise<void> {
  try {
    module = await startModule(fetched);
    post({ opened: true });
  } catch (problem) {
    const { kind, detail } = asLoadFailure(problem);
    post({ failed: { kind, detail } });
  }
}

async function respond(call: Call, number: number): Promise<void> {
  try {
    if (!module) throw new Error('the module is not open');
    const value = await answer(module, call, {
      rest: () => new Promise((resume) => setTimeout(resume, 0)), // a message to drop it gets in here
      dropped: () => dropped.has(number),
      hear: (figure, progress) => post({ number, figure, progress }),
    });
    post({ number, value });
  } catch (problem) {
    post({ number, problem: problem instanceof Error ? problem.message : String(problem) });
  }
  dropped.delete(number);
}
