// In place of base.ts where the element is an ES module: addresses are relative to it, and a bundler follows them.
export const base = typeof document === 'undefined' ? '' : document.baseURI;
