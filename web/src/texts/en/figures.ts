// Words of the figures, by the module's own names. A name that is missing here is shown as the module says it.
import { associative } from './figures/associative.ts';
import { matrices } from './figures/matrices.ts';
import { mechanisms } from './figures/mechanisms.ts';
import { recall } from './figures/recall.ts';
import { ledger } from './ledger.ts';

export const figures = {
  withUnit: '{name} ({unit})',
  units: { tokens: 'tokens', bytes: 'bytes', ms: 'ms' },
  bands: { 'exact recovery': 'exact recovery, M ≤ K', context: 'within the context', 'softmax below gated delta': 'softmax below gated delta', 'inside the window': 'inside the window',
    'memory: domain differs: the store has "own", "foreign" is expected': 'memory: domain differs: the store has "own", "foreign" is expected' },
  reading: {
    description: '{title}. At the right end, {x} {value}: {items}.',
    pictured: '{title}: {items}.',
    item: '{memory} {amount}',
    between: '; ',
  },
  editor: { title: 'Draw another picture', pixel: 'row {row}, column {column}', clear: 'Clear' },
  matrix: { title: '{title}: {label}', row: 'row {number}', column: 'column {number}' },
  stepper: { back: 'Previous token', on: 'Next token', at: 'token {step} of {last}' },
  experiments: { ledger, ...mechanisms, ...matrices, ...associative, ...recall },
} as const;
