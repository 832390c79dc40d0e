// linearmem/element, for bundlers: defines <linear-mem> when it is imported.
import { defineElement } from './element.ts';

defineElement();
