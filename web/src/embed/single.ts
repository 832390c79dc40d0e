// The page as one script, for the file that opens by a double click; in the worker that it starts from itself, it computes.
import '../page/styles.ts';
import { type Scope, serveCalls } from '../engine/serve.ts';
import { startPage } from '../page/page.ts';

if (typeof document === 'undefined') serveCalls(globalThis as unknown as Scope);
else void startPage();
