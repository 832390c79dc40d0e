// The script itself: what lies beside it is found by its address, and a worker runs it again. In a worker there is no document, and
// whoever started it has said where the script lies.
declare global {
  var linearmemBase: string | undefined;
}

const script = typeof document === 'undefined' ? undefined : document.currentScript as HTMLScriptElement | null;

// The address of linear-mem.js; the page's own where the script stands in it.
export const base = globalThis.linearmemBase ?? (script?.src || (typeof document === 'undefined' ? '' : document.baseURI));

// What a worker has to run to be the same script.
export const workerSource = script?.src
  ? `self.linearmemBase = ${JSON.stringify(script.src)}; importScripts(self.linearmemBase);`
  : script?.textContent ?? '';
