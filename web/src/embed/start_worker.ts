// A worker that runs this same script, from a blob: so it may come from another origin than the page. Takes the place of
// engine/start_worker.ts in the scripts that stand alone.
import type { EarlyWorker } from '../engine/start_worker.ts';
import { workerSource } from './base.ts';

export function startWorker(): EarlyWorker {
  const address = URL.createObjectURL(new Blob([workerSource], { type: 'text/javascript' }));
  try {
    return new Worker(address);
  } finally {
    setTimeout(() => URL.revokeObjectURL(address), 60_000); // a slow browser reads it late
  }
}
