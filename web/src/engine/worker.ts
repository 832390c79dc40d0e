// The module's thread: opens it once, then answers calls in the order they came.
import type { LinearMemModule } from 'linearmem';
import { answer, type FromWorker, type ToWorker } from './calls.ts';
import { asLoadFailure } from './failure.ts';
import { startModule } from './loader.ts';

let module: LinearMemModule | undefined;

const post = (message: FromWorker) => self.postMessage(message);

self.onmessage = async (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ('open' in message) {
    try {
      module = await startModule(message.open);
      post({ opened: true });
    } catch (problem) {
      const { kind, detail } = asLoadFailure(problem);
      post({ failed: { kind, detail } });
    }
    return;
  }
  try {
    if (!module) throw new Error('the module is not open');
    post({ number: message.number, value: answer(module, message.call) });
  } catch (problem) {
    post({ number: message.number, problem: problem instanceof Error ? problem.message : String(problem) });
  }
};
