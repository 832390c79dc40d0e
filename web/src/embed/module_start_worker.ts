// In place of engine/start_worker.ts where the element is an ES module: its worker is a file beside it, which a bundler takes along. The build
// puts the address in (prerender/npm_element.ts), since a bundler follows only what is written out.
import type { EarlyWorker } from '../engine/start_worker.ts';

declare const linearmemWorkerAtBuild: () => Worker;

export function startWorker(): EarlyWorker {
  return linearmemWorkerAtBuild();
}
