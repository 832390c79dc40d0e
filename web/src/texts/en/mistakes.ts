// A mistake a reader may switch on: what it is, and why statements fall by it.
export const mistakes = {
  'read-before-write': {
    label: 'Read before writing',
    why: 'A token reads the state before its own pair is in it. The first output is then zero, and every later one misses its newest pair.',
  },
  'half-beta': {
    label: 'Write at half strength',
    why: 'With $\\beta=0.5$ a write goes only half of the way to the new value, and part of the old one stays in the answer.',
  },
  'no-forgetting': {
    label: 'Never forget',
    why: 'With $\\alpha=1$ nothing fades: a direction that should have shrunk to 0.8 is read back at its full size.',
  },
  'single-precision': {
    label: 'Compute in float32',
    why: 'Float32 carries about seven decimal digits. The answers look alike, but they are off by about $10^{-7}$, far more than $10^{-12}$.',
  },
  'no-reset': {
    label: 'No reset between requests',
    why: 'The second request starts on what the first one left behind, and reads values that it was never given.',
  },
  'error-before-decay': {
    label: 'Measure the error before the decay',
    why: 'The error is taken from the state before it fades and is then written into the faded one, so the correction fits a state that is gone.',
  },
  'no-causal-mask': {
    label: 'No causal mask',
    why: 'All keys, future ones too, are in one state, so a change of the last value reaches the first output.',
  },
  'repeated-keys': {
    label: 'Draw keys with replacement',
    why: 'One key may then stand before two values. The question has two answers, and a memory that gives the other one is marked wrong.',
  },
  'newest-only': {
    label: 'Ask for the newest pair alone',
    why: 'A delta memory always reads back what it wrote last, and a window always has it. Asked only for that, a fixed state looks as if it held everything.',
  },
} as const;
