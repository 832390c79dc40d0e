// The figures of associative memory.
export const associative = {
  'picture-readback': {
    notShown: 'more than one random draw; a threshold or anything else that would clean the picture. Grey beyond ±0.125 is cut off in the picture, not in R.',
    panels: {
      pictures: { title: 'The picture as it is read back, one grey scale from −0.125 to 0.125', x: 'pixel', y: 'value' },
      ratio: { title: 'R of this picture, one draw', x: 'stored items M', y: 'R of the picture' },
    },
    series: {
      'outer_product/stored': 'stored',
      'outer_product/M = 1': 'M = 1',
      'outer_product/M = 16': 'M = 16',
      'outer_product/M = 64': 'M = 64',
      'outer_product/M = 256': 'M = 256',
      'outer_product/M of the knob': 'M now',
      'linear_attention/RMS, theory': 'RMS, theory',
      'outer_product/this draw': 'this draw',
      'sampled_mean/M of the knob': 'M now',
    },
    knobs: {
      items: { symbol: 'M', meaning: 'items that are stored' },
      seed: { symbol: 'r', meaning: 'seed of the other items' },
      picture_top: { symbol: 'T', meaning: 'rows 1 to 4 of the picture as bits' },
      picture_bottom: { symbol: 'B', meaning: 'rows 5 to 8 of the picture as bits' },
    },
  },
  'interference-growth': {
    notShown: 'keys that resemble each other, which do worse; how the single R scatter around their statistics.',
    panels: {
      growth: { title: 'R with linear weights (lines: theory; points: sampled, 95 % interval)', x: 'stored items M', y: 'R' },
    },
    series: {
      'outer_product/RMS, theory': 'RMS',
      'outer_product/RMS, sampled': 'RMS, sampled',
      'sampled_median/median, sampled': 'median, sampled',
      'sampled_mean/mean, sampled': 'mean, sampled',
    },
    knobs: {
      key_width: { symbol: 'K', meaning: 'width of a key' },
      items: { symbol: 'M', meaning: 'most items sampled' },
      seeds: { symbol: 'n', meaning: 'seeds sampled' },
      first_seed: { symbol: 'r', meaning: 'the first seed' },
    },
  },
  'least-squares': {
    notShown: 'that least squares must know every key when it writes. Its theory beyond K items is exact for Gaussian keys and close for these.',
    panels: {
      'least-squares': { title: 'RMS of R (lines: theory; points: sampled, 95 % interval)', x: 'stored items M', y: 'RMS of R' },
    },
    series: {
      'outer_product/outer product, RMS, theory': 'outer product',
      'outer_product/outer product, RMS, sampled': 'outer product, sampled',
      'least_squares/least squares, RMS, theory': 'least squares',
      'least_squares/least squares, RMS, sampled': 'least squares, sampled',
    },
    knobs: {
      key_width: { symbol: 'K', meaning: 'width of a key' },
      seeds: { symbol: 'n', meaning: 'seeds sampled' },
      first_seed: { symbol: 'r', meaning: 'the first seed' },
    },
  },
  responses: {
    notShown: 'queries with noise, and keys that resemble each other. R = 1 is where all others together weigh as much as the item asked for.',
    panels: {
      responses: { title: 'RMS of R by response (lines: theory; points: sampled, 95 % interval)', x: 'stored items M', y: 'RMS of R' },
    },
    series: {
      'outer_product/linear': 'linear',
      'outer_product/linear, sampled': 'linear, sampled',
      'relu/ReLU': 'ReLU',
      'relu/ReLU, sampled': 'ReLU, sampled',
      'squared_relu/squared ReLU': 'ReLU²',
      'squared_relu/squared ReLU, sampled': 'ReLU², sampled',
      'cubed_relu/cubed ReLU': 'ReLU³',
      'cubed_relu/cubed ReLU, sampled': 'ReLU³, sampled',
      'softmax_attention/exponential': 'exponential',
      'softmax_attention/exponential, sampled': 'exponential, sampled',
    },
    knobs: {
      beta: { symbol: 'β', meaning: 'how sharply the exponential picks one item' },
      key_width: { symbol: 'K', meaning: 'width of a key' },
      items: { symbol: 'M', meaning: 'most items sampled' },
      seeds: { symbol: 'n', meaning: 'seeds sampled' },
      first_seed: { symbol: 'r', meaning: 'the first seed' },
    },
  },
  'truncated-exponentials': {
    notShown: 'that with an even number of terms an opposite key can answer below zero. Each polynomial is measured against its own answer to a perfect match.',
    panels: {
      truncated: { title: 'RMS of R by number of terms (lines: theory; points: sampled, 95 % interval)', x: 'stored items M', y: 'RMS of R' },
    },
    series: {
      'relu/2 terms': '2 terms',
      'relu/2 terms, sampled': '2 terms, sampled',
      'squared_relu/3 terms': '3 terms',
      'squared_relu/3 terms, sampled': '3 terms, sampled',
      'cubed_relu/4 terms': '4 terms',
      'cubed_relu/4 terms, sampled': '4 terms, sampled',
      'softmax_attention/exponential': 'exponential',
      'softmax_attention/exponential, sampled': 'exponential, sampled',
    },
    knobs: {
      beta: { symbol: 'β', meaning: 'how sharply the exponential picks one item' },
      key_width: { symbol: 'K', meaning: 'width of a key' },
      items: { symbol: 'M', meaning: 'most items sampled' },
      seeds: { symbol: 'n', meaning: 'seeds sampled' },
      first_seed: { symbol: 'r', meaning: 'the first seed' },
    },
  },
  'softmax-weights': {
    notShown: 'values, and queries that do not match a key exactly.',
    panels: {
      weights: { title: 'All softmax weights of one query', x: 'item, best match first', y: 'softmax weight' },
    },
    series: {
      'relu/beta = 1': 'β = 1',
      'squared_relu/beta = 4': 'β = 4',
      'cubed_relu/beta = 16': 'β = 16',
      'softmax_attention/beta of the knob': 'β now',
    },
    knobs: {
      beta: { symbol: 'β', meaning: 'how sharply the exponential picks one item' },
      items: { symbol: 'M', meaning: 'items that are stored' },
      key_width: { symbol: 'K', meaning: 'width of a key' },
      first_seed: { symbol: 'r', meaning: 'the first seed' },
    },
  },
  'logn-sharpening': {
    notShown: 'what the scores of a trained model look like; these are of random keys.',
    panels: {
      sharpening: { title: 'RMS of R (lines: theory; points: sampled, 95 % interval)', x: 'stored items M', y: 'RMS of R' },
    },
    series: {
      'softmax_attention/fixed beta': 'fixed β',
      'softmax_attention/fixed beta, sampled': 'fixed β, sampled',
      'cubed_relu/LogN': 'LogN',
      'cubed_relu/LogN, sampled': 'LogN, sampled',
    },
    knobs: {
      beta: { symbol: 'β', meaning: 'how sharply the exponential picks one item' },
      trained_items: { symbol: 'M₀', meaning: 'items up to which β stays as it is' },
      key_width: { symbol: 'K', meaning: 'width of a key' },
      items: { symbol: 'M', meaning: 'most items sampled' },
      seeds: { symbol: 'n', meaning: 'seeds sampled' },
      first_seed: { symbol: 'r', meaning: 'the first seed' },
    },
  },
  'noisy-query': {
    notShown: 'noise that points towards another key, which does more harm; here its direction is random.',
    panels: {
      noise: {
        title: 'RMS of R against the match (lines: theory; points: sampled, 95 % interval)',
        x: 'match ρ of query and key',
        y: 'RMS of R',
      },
    },
    series: {
      'outer_product/linear': 'linear',
      'outer_product/linear, sampled': 'linear, sampled',
      'squared_relu/squared ReLU': 'ReLU²',
      'squared_relu/squared ReLU, sampled': 'ReLU², sampled',
      'softmax_attention/exponential': 'exponential',
      'softmax_attention/exponential, sampled': 'exponential, sampled',
    },
    knobs: {
      beta: { symbol: 'β', meaning: 'how sharply the exponential picks one item' },
      items: { symbol: 'M', meaning: 'items that are stored' },
      key_width: { symbol: 'K', meaning: 'width of a key' },
      seeds: { symbol: 'n', meaning: 'seeds sampled' },
      first_seed: { symbol: 'r', meaning: 'the first seed' },
    },
  },
  hopfield: {
    notShown: 'that a stop is no fixed point. The patterns stand evenly on a circle; after 300 steps it stops in any case.',
    panels: {
      path: { title: 'The way of the state', x: 'first component', y: 'second component' },
      energy: { title: 'Energy along the way', x: 'step', y: 'energy' },
      steps: { title: 'Steps until the stop', x: 'β', y: 'steps' },
    },
    series: {
      'least_squares/patterns': 'patterns',
      'softmax_attention/state': 'state',
      'softmax_attention/energy': 'energy',
      'softmax_attention/steps': 'steps',
      'sampled_mean/beta of the knob': 'β now',
    },
    knobs: {
      beta: { symbol: 'β', meaning: 'how sharply a step picks one pattern' },
      patterns: { symbol: 'P', meaning: 'patterns on the circle' },
      start_x: { symbol: 'x', meaning: 'first component of the start' },
      start_y: { symbol: 'y', meaning: 'second component of the start' },
      tolerance: { symbol: 'ε', meaning: 'how far the weights may still move at a stop' },
    },
  },
} as const;
