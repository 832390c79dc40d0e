import type { matrices as english } from '../../en/figures/matrices.ts';
import type { Loosened } from '../../languages.ts';

export const matrices: Loosened<typeof english> = {
  'softmax-kernel': {
    notShown: '训练出来的查询和键，用它们两者的差别可大可小。核并不是 softmax 的近似，而是另一种加权方式。',
    panels: {
      weights: { title: '权重：每行是正在读的词元，每列是被读的词元', x: '格', y: '权重' },
      outputs: { title: '输出：按这些权重平均的值', x: '格', y: '输出' },
    },
    series: {
      'softmax_attention/softmax': 'softmax',
      'linear_attention/kernel': '核',
      'outer_product/difference': '差',
    },
    knobs: {
      scale: { symbol: 's', meaning: 'softmax 给得分乘上的倍数' },
      feature: { symbol: 'φ', meaning: '核的特征', choices: ['elu + 1', 'ReLU'] },
      causal: { symbol: 'C', meaning: '词元可以看到什么', choices: ['所有词元', '自己和之前的'] },
      tokens: { symbol: 'T', meaning: '词元数' },
      seed: { symbol: 'r', meaning: '词元的种子；取 7 即 LM04 的输入' },
    },
  },
  'recurrent-state': {
    notShown: '模型学会挑选的键，以及多于一个头。这里的值是随机的；elu + 1 恒为正，所以计数只增不减。',
    panels: {
      write: { title: '写入：S 加上 φ(k)ᵀ v（左边是 φ(k)，上方是 v）', x: '格', y: '数' },
      count: { title: '计数：z 加上 φ(k)', x: '格', y: '数' },
      query: { title: '用 φ(q) 读', x: '格', y: '数' },
      sum: { title: '总和', x: '格', y: '数' },
      weight: { title: '计数', x: '格', y: '数' },
      output: { title: '输出', x: '格', y: '数' },
      outputs: { title: '全部输出，每个词元一行', x: '格', y: '输出' },
    },
    series: {
      'linear_attention/value': 'v',
      'linear_attention/before': '之前',
      'linear_attention/written': '写入',
      'linear_attention/after': '之后',
      'linear_attention/query': 'φ(q)',
      'linear_attention/sum': 'φ(q) S',
      'linear_attention/output': 'o',
      'linear_attention/weight': 'φ(q) z',
      'linear_attention/step by step': '逐步计算',
      'linear_attention/looking back': '回看全部',
    },
    knobs: {
      token: { symbol: 't', meaning: '正在写入和读取的词元' },
      order: { symbol: 'O', meaning: '次序', choices: ['先写后读', '先读后写（错误）'] },
      seed: { symbol: 'r', meaning: '词元的种子；取 7 即 LM05 的输入' },
    },
  },
  correction: {
    notShown: '多次写入，那时相互推动的方向不止两个。模型怎样为每个词元选 α 和 β，是学出来的。',
    panels: {
      state: { title: '第二次写入前后的状态 S，键在前', x: '格', y: '数' },
      error: { title: '写进去的误差', x: '格', y: '数' },
      reads: { title: '最后每个键读到什么；第一键应读到 1 0，第二键应读到 0 1', x: '格', y: '数' },
      strength: { title: '两个回答各错多少', x: '写入强度 β', y: '读出误差' },
    },
    series: {
      'gated_delta_rule/first write': '第一对',
      'gated_delta_rule/decayed': '衰减后 α\u00a0S',
      'gated_delta_rule/written': 'β kᵀ 误差',
      'gated_delta_rule/after': '之后',
      'gated_delta_rule/value': '第二个值',
      'gated_delta_rule/predicted': '预测 k\u00a0S',
      'gated_delta_rule/error': '误差',
      'gated_delta_rule/first key': '第一键',
      'gated_delta_rule/second key': '第二键',
      'gated_delta_rule/orthogonal key, before': '正交键，之前',
      'gated_delta_rule/orthogonal key, after': '正交键，之后',
      'sampled_mean/beta of the knob': '此时的 β',
    },
    knobs: {
      beta: { symbol: 'β', meaning: '第二次写入覆盖的强度' },
      rho: { symbol: 'ρ', meaning: '两个键的内积' },
      alpha: { symbol: 'α', meaning: '第二次写入前门控保留的比例' },
      order: { symbol: 'O', meaning: '次序', choices: ['先衰减，再量误差', '先量误差，再衰减（错误）'] },
    },
  },
  'scan-matrix': {
    notShown: '多于一个通道，以及不等于 1 的输入、输出权重；还有速度：一块就是一次小矩阵乘法，这才是分块的理由。',
    panels: {
      decays: { title: '每个词元保留多少状态', x: '词元', y: '衰减' },
      matrix: { title: '矩阵：行是输出，列是输入；横竖线是块的边界', x: '格', y: '权重' },
    },
    series: {
      'selective_scan/decay of each token': '衰减',
      'selective_scan/one matrix': '整个矩阵',
      'selective_scan/in chunks': '分块计算',
      'selective_scan/difference': '差',
    },
    knobs: {
      chunk: { symbol: 'C', meaning: '每块的词元数' },
      decay: { symbol: 'a', meaning: '每个词元通常保留的比例' },
      boundary: { symbol: 'E', meaning: '块之间交出什么', choices: ['正确的状态', '第一个差一的错误', '第二个差一的错误'] },
      selective: { symbol: 'd', meaning: '衰减在多大程度上随词元而变' },
      tokens: { symbol: 'T', meaning: '词元数' },
      seed: { symbol: 'r', meaning: '衰减的种子' },
    },
  },
  'segment-rows': {
    notShown: '多于一层的情形：叠起来时每层再往回看一次，可及范围随深度增长。一层拿这些行来做什么，也没有画出。',
    panels: {
      rows: { title: '每行是一段：它自己的词元（橙色，−0.5）和它记得的词元（蓝色，1）', x: '词元', y: '可及' },
      reach: { title: '每个词元用得上多少词元', x: '词元', y: '可及的词元数' },
    },
    series: {
      'window/segment by segment': '各段，第一段在最上',
      'softmax_attention/explicit K,V': '显式的键和值',
      'window/segment memory': '分段记忆',
      'causal_conv/no memory': '没有记忆',
    },
    knobs: {
      limit: { symbol: 'L', meaning: '记忆保留的行数' },
      length: { symbol: 'n', meaning: '每段的词元数' },
      segments: { symbol: 'S', meaning: '段数' },
    },
  },
};
