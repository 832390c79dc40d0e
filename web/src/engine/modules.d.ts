// What vite.config.ts puts behind these names: the parts of the module, and what they hold.
declare module 'virtual:linearmem/modules' {
  export const modules: Record<string, import('./loader.ts').Build>;
}

declare module 'virtual:linearmem/first-part' {
  export const firstPart: string; // of the first claim
}

declare module 'virtual:linearmem/catalogue' {
  export const catalogue: import('../../prerender/wasm_modules.ts').Catalogue;
}

declare module 'virtual:linearmem/claim-notes' {
  export const notes: import('../claims/notes.ts').AllNotes;
}

declare module 'virtual:linearmem/element-css' {
  const css: string;
  export default css;
}

declare module 'virtual:linearmem/font' {
  export function fontAddress(): string;
}

declare module '*.css';
declare module 'virtual:formulas.css';
