import type { FigureTexts } from '../languages.ts';

export const figures: FigureTexts = {
  memories: {
    softmax_attention: '显式的键和值',
    window: '窗口',
    linear_attention: '线性注意力',
    outer_product: '外积',
    delta_rule: 'delta 规则',
    gated_delta_rule: '带门控的 delta 规则',
  },
  units: { tokens: '词元', bytes: '字节' },
  experiments: {
    'memory-tradeoff': {
      notShown: '速度，以及训练好的模型会怎样使用它的状态。',
      panels: {
        storage: { title: '必须保存多少', x: '前缀长度', y: '存储量' },
        crosstalk: { title: '读第一个键时错多少', x: '两个键的内积', y: '误差' },
      },
      knobs: {
        K: { symbol: 'K', meaning: '键的宽度' },
        V: { symbol: 'V', meaning: '值的宽度' },
        bytes: { symbol: 'b', meaning: '每个数的字节数' },
        beta: { symbol: 'β', meaning: '写入时覆盖得多用力' },
      },
      description: '{title}。最右端{x}为 {value} 时：{items}。',
      item: '{memory} {amount}',
      between: '；',
    },
  },
};
