// The figures of single mechanisms.
export const mechanisms = {
  'memory-tradeoff': {
    notShown: 'speed, weights and workspace; more than one layer and head; what a trained model would do with its state.',
    panels: {
      storage: { title: 'What must be stored', x: 'text length', y: 'storage' },
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
  },
  'knn-neighbours': {
    notShown: 'that keys of a real model have hundreds of columns. The distribution of the model is made up, and so are the records.',
    panels: {
      plane: { title: 'Records, the query and whom it finds', x: 'first component', y: 'second component' },
      weights: { title: 'What each neighbour weighs', x: 'squared distance', y: 'weight' },
      tokens: { title: 'The next token, before and after', x: 'token, 0 for A to 4 for E', y: 'probability' },
    },
    series: {
      'linear_attention/token A': 'token A',
      'delta_rule/token B': 'token B',
      'selective_scan/token C': 'token C',
      'gated_delta_rule/token E': 'token E, poisoned',
      'least_squares/refused': 'refused',
      'softmax_attention/query and its neighbours': 'query and neighbours',
      'softmax_attention/exp(-d / T), scaled': 'exp(−d/τ), scaled',
      'knn_memory/neighbours': 'neighbours',
      'window/model': 'model',
      'knn_memory/memory': 'memory',
      'softmax_attention/mixed': 'mixed',
    },
    knobs: {
      temperature: { symbol: 'τ', meaning: 'divides squared distances' },
      weight: { symbol: 'λ', meaning: 'weight of the memory' },
      k: { symbol: 'k', meaning: 'neighbours at most' },
      poison: { symbol: 'P', meaning: 'a poisoned record', choices: ['none', 'one at the query'] },
      foreign: { symbol: 'F', meaning: 'a record of another domain', choices: ['none', 'one is offered'] },
      query_x: { symbol: 'x', meaning: 'first component of the query' },
      query_y: { symbol: 'y', meaning: 'second component of the query' },
      records: { symbol: 'M', meaning: 'records in the memory' },
      seed: { symbol: 'r', meaning: 'where the records stand' },
    },
  },
  'wall-clock': {
    notShown: 'more than one head and one thread, what surrounds a call in a model, and memory. Beyond about 1000 tokens of attention only the first ones are held against the definition.',
    panels: {
      time: { title: 'Measured here (median of five samples)', x: 'length', y: 'time of a call' },
      operations: { title: 'Counted from the definitions', x: 'length', y: 'operations of a call' },
    },
    series: {
      'softmax_attention/softmax': 'softmax',
      'linear_attention/linear': 'linear',
      'linear_attention/gated linear': 'gated linear',
      'delta_rule/delta': 'delta',
      'gated_delta_rule/gated delta': 'gated delta',
      'ssd/SSD': 'SSD',
    },
    knobs: {
      width: { symbol: 'K', meaning: 'width of keys and values' },
      longest: { symbol: 'T', meaning: 'most tokens of a call' },
    },
  },
} as const;
