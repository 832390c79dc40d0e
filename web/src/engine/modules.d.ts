// What vite.config.ts puts behind these names: the two builds of the module and the build ids they must answer with.
declare module 'linearmem/*.wasm?url' {
  const address: string;
  export default address;
}

declare const __LINEARMEM_BUILD_IDS__: { simd: string; scalar: string };

declare module '*.css';
declare module 'virtual:formulas.css';
