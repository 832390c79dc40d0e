import type { FigureTexts } from '../languages.ts';

export const figures: FigureTexts = {
  units: { tokens: '词元', bytes: '字节' },
  experiments: {
    'memory-tradeoff': {
      notShown: '速度、权重和工作空间；多于一层一头的情形；训练好的模型会怎样使用它的状态。',
      panels: {
        storage: { title: '必须保存多少', x: '前缀长度', y: '存储量' },
        crosstalk: { title: '读出时错多少', x: '两个键的内积', y: '读出误差' },
      },
      series: {
        'softmax_attention/explicit K,V': '显式的键和值',
        'window/window': '窗口',
        'linear_attention/state and normalizer': '线性注意力',
        'outer_product/either key': '外积',
        'delta_rule/old key': 'delta 第一键',
        'delta_rule/new key': 'delta 第二键',
        'gated_delta_rule/old key': '门控 delta 第一键',
        'gated_delta_rule/new key': '门控 delta 第二键',
      },
      knobs: {
        beta: { symbol: 'β', meaning: '第二次写入覆盖的强度' },
        alpha: { symbol: 'α', meaning: '第二次写入前门控保留的比例' },
        key_width: { symbol: 'K', meaning: '键的宽度' },
        value_width: { symbol: 'V', meaning: '值的宽度' },
        element_bytes: { symbol: 'b', meaning: '每个数的字节数' },
        window: { symbol: 'W', meaning: '窗口保留的词元数' },
      },
      description: '{title}。最右端{x}为 {value} 时：{items}。',
      item: '{memory} {amount}',
      between: '；',
    },
  },
};
