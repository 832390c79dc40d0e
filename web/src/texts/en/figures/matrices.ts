// The figures that show matrices number by number.
export const matrices = {
  'softmax-kernel': {
    notShown: 'trained queries and keys, with which the two differ by more or by less. The kernel does not approximate softmax; it is another way to weigh.',
    panels: {
      weights: { title: 'Weights: each row is a token that reads, each column a token that is read', x: 'cell', y: 'weight' },
      outputs: { title: 'Outputs: the values, averaged with these weights', x: 'cell', y: 'output' },
    },
    series: {
      'softmax_attention/softmax': 'softmax',
      'linear_attention/kernel': 'kernel',
      'outer_product/difference': 'difference',
    },
    knobs: {
      scale: { symbol: 's', meaning: 'what softmax multiplies the scores by' },
      feature: { symbol: 'φ', meaning: 'features of the kernel', choices: ['elu + 1', 'ReLU'] },
      causal: { symbol: 'C', meaning: 'what a token may see', choices: ['all tokens', 'itself and earlier ones'] },
      tokens: { symbol: 'T', meaning: 'tokens' },
      seed: { symbol: 'r', meaning: 'seed of the tokens; 7 as in LM04' },
    },
  },
  'recurrent-state': {
    notShown: 'keys that a model has learned to choose, and more than one head. The values are random; the count never falls, since elu + 1 is above 0.',
    panels: {
      write: { title: 'Write: S grows by φ(k)ᵀ v (at the left φ(k), above v)', x: 'cell', y: 'number' },
      count: { title: 'Count: z grows by φ(k)', x: 'cell', y: 'number' },
      query: { title: 'Read with φ(q)', x: 'cell', y: 'number' },
      sum: { title: 'Sum', x: 'cell', y: 'number' },
      weight: { title: 'Count', x: 'cell', y: 'number' },
      output: { title: 'Output', x: 'cell', y: 'number' },
      outputs: { title: 'All outputs, one row for each token', x: 'cell', y: 'output' },
    },
    series: {
      'linear_attention/value': 'v',
      'linear_attention/before': 'before',
      'linear_attention/written': 'written',
      'linear_attention/after': 'after',
      'linear_attention/query': 'φ(q)',
      'linear_attention/sum': 'φ(q) S',
      'linear_attention/output': 'o',
      'linear_attention/weight': 'φ(q) z',
      'linear_attention/step by step': 'step by step',
      'linear_attention/looking back': 'looking back',
    },
    knobs: {
      token: { symbol: 't', meaning: 'the token that is written and read' },
      order: { symbol: 'O', meaning: 'order', choices: ['write, then read', 'read first (a mistake)'] },
      seed: { symbol: 'r', meaning: 'seed of the tokens; 7 as in LM05' },
    },
  },
  correction: {
    notShown: 'many writes, which push on each other in more directions than two. How a model chooses α and β for each token is learned.',
    panels: {
      state: { title: 'The state S, key first, through the second write', x: 'cell', y: 'number' },
      error: { title: 'The error that is written', x: 'cell', y: 'number' },
      reads: { title: 'What each key reads in the end; the first should read 1 0, the second 0 1', x: 'cell', y: 'number' },
      strength: { title: 'How far off both answers are', x: 'write strength β', y: 'error of the read' },
    },
    series: {
      'gated_delta_rule/first write': 'first pair',
      'gated_delta_rule/decayed': 'decayed: α\u00a0S',
      'gated_delta_rule/written': 'β kᵀ error',
      'gated_delta_rule/after': 'after',
      'gated_delta_rule/value': 'second value',
      'gated_delta_rule/predicted': 'predicted: k\u00a0S',
      'gated_delta_rule/error': 'error',
      'gated_delta_rule/first key': 'first key',
      'gated_delta_rule/second key': 'second key',
      'gated_delta_rule/orthogonal key, before': 'orthogonal, before',
      'gated_delta_rule/orthogonal key, after': 'orthogonal, after',
      'sampled_mean/beta of the knob': 'β now',
    },
    knobs: {
      beta: { symbol: 'β', meaning: 'how hard the second write overwrites' },
      rho: { symbol: 'ρ', meaning: 'inner product of the two keys' },
      alpha: { symbol: 'α', meaning: 'what the gate keeps before the second write' },
      order: { symbol: 'O', meaning: 'order', choices: ['decay, then measure the error', 'error before decay (a mistake)'] },
    },
  },
  'scan-matrix': {
    notShown: 'more than one channel, and input and output weights other than 1. Speed: a chunk is a small matrix product, which is why chunks are used.',
    panels: {
      decays: { title: 'What each token keeps of the state', x: 'token', y: 'decay' },
      matrix: { title: 'The matrix: row is the output, column the input; lines where chunks meet', x: 'cell', y: 'weight' },
    },
    series: {
      'selective_scan/decay of each token': 'decays',
      'selective_scan/one matrix': 'as one matrix',
      'selective_scan/in chunks': 'in chunks',
      'selective_scan/difference': 'difference',
    },
    knobs: {
      chunk: { symbol: 'C', meaning: 'tokens of a chunk' },
      decay: { symbol: 'a', meaning: 'what a token keeps of the state, typically' },
      boundary: { symbol: 'E', meaning: 'what chunks hand over', choices: ['the right state', 'first error by one', 'second error by one'] },
      selective: { symbol: 'd', meaning: 'how much the decay depends on the token' },
      tokens: { symbol: 'T', meaning: 'tokens' },
      seed: { symbol: 'r', meaning: 'seed of the decays' },
    },
  },
  'segment-rows': {
    notShown: 'more than one layer: in a stack each layer looks back once more, so the reach grows with depth. What a layer does with the rows is not shown.',
    panels: {
      rows: { title: 'Each row is a segment: its own tokens (orange, −0.5) and those it remembers (blue, 1)', x: 'token', y: 'reach' },
      reach: { title: 'How many tokens each token can use', x: 'token', y: 'tokens in reach' },
    },
    series: {
      'window/segment by segment': 'segments, first one on top',
      'softmax_attention/explicit K,V': 'explicit keys and values',
      'window/segment memory': 'segment memory',
      'causal_conv/no memory': 'no memory',
    },
    knobs: {
      limit: { symbol: 'L', meaning: 'rows that the memory keeps' },
      length: { symbol: 'n', meaning: 'tokens of a segment' },
      segments: { symbol: 'S', meaning: 'segments' },
    },
  },
} as const;
