// Words of the figures, by the module's own names. A name that is missing here is shown as the module says it.
export const figures = {
  memories: {
    softmax_attention: 'explicit keys and values',
    window: 'window',
    linear_attention: 'linear attention',
    outer_product: 'outer product',
    delta_rule: 'delta rule',
    gated_delta_rule: 'gated delta rule',
  },
  units: { tokens: 'tokens', bytes: 'bytes' },
  experiments: {
    'memory-tradeoff': {
      notShown: 'Speed, and what a trained model learns to do with its state.',
      panels: {
        storage: { title: 'What must be stored', x: 'prefix length', y: 'storage' },
        crosstalk: { title: 'What reading the first key gets wrong', x: 'inner product of the two keys', y: 'error' },
      },
      knobs: {
        K: { symbol: 'K', meaning: 'width of a key' },
        V: { symbol: 'V', meaning: 'width of a value' },
        bytes: { symbol: 'b', meaning: 'bytes for each number' },
        beta: { symbol: 'β', meaning: 'how hard a write overwrites' },
      },
      description: '{title}. At the right end, {x} {value}: {items}.',
      item: '{memory} {amount}',
      between: '; ',
    },
  },
} as const;
