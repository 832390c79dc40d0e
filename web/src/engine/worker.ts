// The worker: opens modules, then answers calls in the order they came.
import type { LinearMemModule } from 'linearmem';
import { answer, type Call, type FromWorker, type ToWorker } from './calls.ts';
import { asLoadFailure } from './failure.ts';
import { type Fetched, startModule } from './loader.ts';

const modules = new Map<string, LinearMemModule>();
let turn: Promise<unknown> = Promise.resolve();
const dropped = new Set<number>();

const post = (message: FromWorker) => self.postMessage(message);

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ('drop' in message) dropped.add(message.drop);
  else turn = turn.then(() => ('open' in message ? open(message.open, message.number) : respond(message.call, message.to, message.number)));
};

async function open(fetched: Fetched, number: number): Promise<void> {
  try {
    modules.set(fetched.name, await startModule(fetched));
    post({ number, value: undefined });
  } catch (problem) {
    const { kind, detail } = asLoadFailure(problem);
    post({ number, failed: { kind, detail } });
  }
}

async function respond(call: Call, to: string, number: number): Promise<void> {
  try {
    const module = modules.get(to);
    if (!module) throw new Error(`the module ${to} is not open`);
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
