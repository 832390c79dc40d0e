// The worker beside linearmem/element.
import { type Scope, serveCalls } from '../engine/serve.ts';

serveCalls(self as unknown as Scope);
