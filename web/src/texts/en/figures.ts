// Words of the figures, by the module's own names. A name that is missing here is shown as the module says it.
export const figures = {
  units: { tokens: 'tokens', bytes: 'bytes' },
  experiments: {
    'memory-tradeoff': {
      notShown: 'speed, weights and workspace; more than one layer and head; what a trained model would do with its state.',
      panels: {
        storage: { title: 'What must be stored', x: 'prefix length', y: 'storage' },
        crosstalk: { title: 'What a read gets wrong', x: 'inner product of the two keys', y: 'error of the read' },
      },
      series: {
        'softmax_attention/explicit K,V': 'explicit keys and values',
        'window/window': 'window',
        'linear_attention/state and normalizer': 'linear attention',
        'outer_product/either key': 'outer product',
        'delta_rule/old key': 'delta, first key',
        'delta_rule/new key': 'delta, second key',
        'gated_delta_rule/old key': 'gated delta, first key',
        'gated_delta_rule/new key': 'gated delta, second key',
      },
      knobs: {
        beta: { symbol: 'β', meaning: 'how hard the second write overwrites' },
        alpha: { symbol: 'α', meaning: 'what the gate keeps before the second write' },
        key_width: { symbol: 'K', meaning: 'width of a key' },
        value_width: { symbol: 'V', meaning: 'width of a value' },
        element_bytes: { symbol: 'b', meaning: 'bytes for each number' },
        window: { symbol: 'W', meaning: 'tokens that the window keeps' },
      },
      description: '{title}. At the right end, {x} {value}: {items}.',
      item: '{memory} {amount}',
      between: '; ',
    },
  },
} as const;
