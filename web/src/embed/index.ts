// linear-mem.js: one classic script. In a page it defines <linear-mem>; in a worker that it starts itself, it computes.
import { type Scope, serveCalls } from '../engine/serve.ts';
import { defineElement } from './element.ts';

if (typeof document === 'undefined') serveCalls(globalThis as unknown as Scope);
else defineElement();
