export const patience = 15_000; // milliseconds without a byte, or a word, before the other side counts as silent
