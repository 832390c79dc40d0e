// The figures of single mechanisms.
import type { mechanisms as english } from '../../en/figures/mechanisms.ts';
import type { Loosened } from '../../languages.ts';

export const mechanisms: Loosened<typeof english> = {
  'memory-tradeoff': {
    notShown: '速度、权重和工作空间；多于一层一头的情形；训练好的模型会怎样使用它的状态。',
    panels: {
      storage: { title: '必须保存多少', x: '文本长度', y: '存储量' },
      crosstalk: { title: '读出时错多少', x: '两个键的内积', y: '读出误差' },
    },
    series: {
      'softmax_attention/explicit K,V': '显式的键和值',
      'window/window': '窗口',
      'linear_attention/state and normalizer': '线性注意力',
      'outer_product/either key': '外积',
      'delta_rule/old key': 'delta，第一个键',
      'delta_rule/new key': 'delta，第二个键',
      'gated_delta_rule/old key': '门控 delta，第一个键',
      'gated_delta_rule/new key': '门控 delta，第二个键',
    },
    knobs: {
      beta: { symbol: 'β', meaning: '第二次写入覆盖的强度' },
      alpha: { symbol: 'α', meaning: '第二次写入前门控保留的比例' },
      key_width: { symbol: 'K', meaning: '键的宽度' },
      value_width: { symbol: 'V', meaning: '值的宽度' },
      element_bytes: { symbol: 'b', meaning: '每个数的字节数' },
      window: { symbol: 'W', meaning: '窗口保留的词元数' },
    },
  },
  'knn-neighbours': {
    notShown: '真实模型的键有几百列。这里模型的分布和各条记录都是编出来的。',
    panels: {
      plane: { title: '记录、查询和它找到的近邻', x: '第一分量', y: '第二分量' },
      weights: { title: '每个近邻的权重', x: '距离的平方', y: '权重' },
      tokens: { title: '下一个词元，混合之前与之后', x: '词元，0 为 A，4 为 E', y: '概率' },
    },
    series: {
      'linear_attention/token A': '词元 A',
      'delta_rule/token B': '词元 B',
      'selective_scan/token C': '词元 C',
      'gated_delta_rule/token E': '词元 E，投毒',
      'least_squares/refused': '被拒绝的记录',
      'softmax_attention/query and its neighbours': '查询与近邻',
      'softmax_attention/exp(-d / T), scaled': 'exp(−d/τ)，按比例',
      'knn_memory/neighbours': '近邻',
      'window/model': '模型',
      'knn_memory/memory': '记忆',
      'softmax_attention/mixed': '混合',
    },
    knobs: {
      temperature: { symbol: 'τ', meaning: '温度，用来除距离的平方' },
      weight: { symbol: 'λ', meaning: '记忆的权重' },
      k: { symbol: 'k', meaning: '近邻数上限' },
      poison: { symbol: 'P', meaning: '投毒的记录', choices: ['没有', '查询处有一条'] },
      foreign: { symbol: 'F', meaning: '别的权限域的记录', choices: ['没有', '送来一条'] },
      query_x: { symbol: 'x', meaning: '查询的第一分量' },
      query_y: { symbol: 'y', meaning: '查询的第二分量' },
      records: { symbol: 'M', meaning: '记忆里的记录数' },
      seed: { symbol: 'r', meaning: '决定各条记录的位置' },
    },
  },
  'wall-clock': {
    notShown: '多头和多线程，模型中调用以外的部分，以及内存。注意力超过约 1000 个词元时，只有开头的词元与定义核对。',
    panels: {
      time: { title: '在这里测得（五次抽样的中位数）', x: '长度', y: '一次调用的时间' },
      operations: { title: '按定义数出', x: '长度', y: '一次调用的运算数' },
    },
    series: {
      'softmax_attention/softmax': 'softmax',
      'linear_attention/linear': '线性',
      'linear_attention/gated linear': '门控线性',
      'delta_rule/delta': 'delta',
      'gated_delta_rule/gated delta': '门控 delta',
      'ssd/SSD': 'SSD',
    },
    knobs: {
      width: { symbol: 'K', meaning: '键和值的宽度' },
      longest: { symbol: 'T', meaning: '一次调用最多的词元数' },
    },
  },
};
