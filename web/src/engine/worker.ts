// The site's worker. The page's first script starts it before anything else, under the name 'early', to have the first module fetched
// while the page is still being read.
import { firstPart } from 'virtual:linearmem/first-part';
import { type Scope, serveCalls } from './serve.ts';

const [early, simd] = self.name.split(' ');
const first = { part: firstPart, simd: simd === 'off' ? 'off' as const : 'auto' as const };
serveCalls(self as unknown as Scope, early === 'early' ? first : undefined);
