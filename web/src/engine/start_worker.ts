// The site's way to a worker: the one that public/first_paint.js has started already, or another of the same script.
export interface EarlyWorker extends Worker {
  broken?: boolean; // it has failed before anybody listened
}

declare global {
  interface Window {
    linearmemWorker?: EarlyWorker;
  }
}

export function startWorker(): EarlyWorker {
  const { linearmemWorker: early } = window;
  delete window.linearmemWorker;
  return early ?? new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
}
