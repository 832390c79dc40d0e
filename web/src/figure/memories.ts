// One colour, line and marker for each memory, the same in every figure. Colours are custom properties of figure.css, so
// light, dark and print need no redrawing; the colours of lines are too light for words, so labels have their own.
export interface MemoryStyle {
  stroke: string;
  label: string;
  dash?: string;
  symbol?: 'circle' | 'square' | 'triangle' | 'diamond' | 'star' | 'plus' | 'times' | 'hexagon';
}

const looks: Record<string, Pick<MemoryStyle, 'dash' | 'symbol'>> = {
  softmax_attention: { symbol: 'circle' },
  window: { symbol: 'square', dash: '10 4' },
  linear_attention: { symbol: 'triangle' },
  outer_product: { dash: '1.5 5' },
  delta_rule: { symbol: 'diamond' },
  gated_delta_rule: { symbol: 'star', dash: '9 3 2 3' },
  selective_scan: { symbol: 'plus', dash: '6 4' },
  least_squares: { symbol: 'times', dash: '4 3' },
  knn_memory: { symbol: 'hexagon' },
  relu: { symbol: 'triangle', dash: '2 4' },
  squared_relu: { symbol: 'square', dash: '7 4' },
  cubed_relu: { symbol: 'diamond', dash: '12 4' },
  sampled_median: { symbol: 'diamond' },
  sampled_mean: { symbol: 'square' },
  causal_conv: { symbol: 'times', dash: '4 3 1 3' },
  whole_model: { symbol: 'diamond' }, // all layers of a model together
  device_memory: { dash: '2 3' }, // what there is room for
};

const aliases: Record<string, string> = { ssd: 'selective_scan', kv: 'softmax_attention', gated_delta: 'gated_delta_rule' };

export function memoryStyle(memory: string): MemoryStyle {
  const name = aliases[memory] ?? memory;
  const look = looks[name];
  if (!look) throw new Error(`no line style for the memory ${memory}`);
  return { ...look, stroke: `var(--memory-${name})`, label: `var(--memory-${name}-label)` };
}
