// The figures of what a fixed state can hold, and of depth.
import type { recall as english } from '../../en/figures/recall.ts';
import type { Loosened } from '../../languages.ts';

export const recall: Loosened<typeof english> = {
  'recall-bytes': {
    notShown: '训练好的模型，它们自己挑选键：这里的键是随机的，K = V，每个数 4 字节，一个头；所以旁边也没有已发表的准确率。理论把一个值的对手看作相互独立。',
    panels: {
      bytes: { title: '回忆率与所存字节（线：理论；点：抽样，95 % 区间）', x: '读下一个词元之前保存的字节数', y: '回忆率' },
      pairs: { title: '回忆率与存入的键值对数', x: '存入的键值对数 M', y: '回忆率' },
    },
    series: {
      'outer_product/outer product, theory': '外积',
      'softmax_attention/explicit K,V': '显式的键和值',
      'window/window': '窗口',
      'outer_product/outer product': '外积，抽样',
      'linear_attention/linear attention': '线性注意力',
      'delta_rule/delta': 'delta',
      'gated_delta_rule/gated delta': '门控 delta',
      'ssd/SSD': 'SSD',
      'least_squares/least squares': '最小二乘',
    },
    knobs: {
      pairs: { symbol: 'M', meaning: '第一幅图存入的键值对数' },
      key_width: { symbol: 'K', meaning: '键的宽度：窗口的，以及第二幅图全部的' },
      beta: { symbol: 'β', meaning: 'softmax 挑选一个键的锐利程度' },
      alpha: { symbol: 'α', meaning: '每次写入时门控保留的比例' },
      window: { symbol: 'W', meaning: '第二幅图中窗口保留多少对' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'recall-shape': {
    notShown: '误差有多大，只看正确的值是否仍是最近的。窄格式的状态在每次写入后舍入，运算本身不舍入。',
    panels: {
      shape: { title: '同样多的数，不同的形状 K × V（线：理论；点：抽样，95 % 区间）', x: '键的宽度 K', y: '回忆率' },
      precision: { title: '回忆率与状态的精度（bfloat16、float16、float32、float64）', x: '精度位数', y: '回忆率' },
    },
    series: {
      'outer_product/outer product, theory': '外积',
      'outer_product/outer product': '外积，抽样',
      'linear_attention/linear attention': '线性注意力',
      'delta_rule/delta': 'delta',
      'gated_delta_rule/gated delta': '门控 delta',
      'least_squares/least squares': '最小二乘',
    },
    knobs: {
      pairs: { symbol: 'M', meaning: '存入的键值对数' },
      numbers_log2: { symbol: 'log₂ KV', meaning: '状态中数的个数，以 2 的幂计' },
      alpha: { symbol: 'α', meaning: '每次写入时门控保留的比例' },
      beta: { symbol: 'β', meaning: 'softmax 挑选一个键的锐利程度' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'recall-distance': {
    notShown: '训练出来的门控：它会放掉不再需要的，这里的门控对一切都同样遗忘。键是随机的，一个头。',
    panels: {
      distance: { title: '回忆率与距离（抽样，95 % 区间）', x: '往回数第几对', y: '回忆率' },
    },
    series: {
      'softmax_attention/explicit K,V': '显式的键和值',
      'window/window': '窗口',
      'outer_product/outer product': '外积',
      'linear_attention/linear attention': '线性注意力',
      'delta_rule/delta': 'delta',
      'gated_delta_rule/gated delta': '门控 delta',
      'ssd/SSD': 'SSD',
    },
    knobs: {
      alpha: { symbol: 'α', meaning: '每次写入时门控保留的比例' },
      window: { symbol: 'W', meaning: '窗口保留多少对' },
      pairs: { symbol: 'M', meaning: '存入的键值对数' },
      key_width: { symbol: 'K', meaning: '键和值的宽度' },
      beta: { symbol: 'β', meaning: 'softmax 挑选一个键的锐利程度' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'recall-conflict': {
    notShown: '有先后之分的注意力：这里的 softmax 只按键来加权。各键以随机的次序重写，次数相同。',
    panels: {
      rewrites: { title: '写过多次的键，最新的值能否回忆出来（95 % 区间）', x: '每个键写入的次数', y: '最新值的回忆率' },
      similar: { title: '两两相像的键（95 % 区间）', x: '一对键的内积', y: '回忆率' },
    },
    series: {
      'softmax_attention/explicit K,V': '显式的键和值',
      'outer_product/outer product': '外积',
      'delta_rule/delta': 'delta',
      'gated_delta_rule/gated delta': '门控 delta',
      'ssd/SSD': 'SSD',
      'least_squares/least squares': '最小二乘',
    },
    knobs: {
      keys: { symbol: 'M', meaning: '不同的键数' },
      alpha: { symbol: 'α', meaning: '每次写入时门控保留的比例' },
      key_width: { symbol: 'K', meaning: '键和值的宽度' },
      beta: { symbol: 'β', meaning: 'softmax 挑选一个键的锐利程度' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'state-precision': {
    notShown: '窄格式的运算：只有状态在每次写入后舍入，并与 float64 的状态比较。词元是随机的，一个头。',
    panels: {
      sum: { title: '外积，不衰减', x: '长度', y: '相对 float64 的误差' },
      'sum-decay': { title: '外积，有衰减', x: '长度', y: '相对 float64 的误差' },
      'delta-norm': { title: 'delta 规则，键长为 1', x: '长度', y: '相对 float64 的误差' },
      'delta-raw': { title: 'delta 规则，键不归一化', x: '长度', y: '相对 float64 的误差' },
    },
    series: {
      'relu/float32': 'float32',
      'squared_relu/float16': 'float16',
      'cubed_relu/bfloat16': 'bfloat16',
    },
    knobs: {
      tokens: { symbol: 'T', meaning: '序列的长度' },
      width: { symbol: 'K', meaning: '键和值的宽度' },
      alpha: { symbol: 'α', meaning: '每个词元之后衰减保留的比例' },
      seed: { symbol: 'r', meaning: '词元的种子' },
    },
  },
  'hybrid-ablation': {
    notShown: '训练：这些权重是为此任务直接写出的。一个头，没有卷积，也没有前馈部分。',
    panels: {
      hybrid: { title: '回忆率与距离（抽样，95 % 区间）', x: '往回数第几对', y: '回忆率' },
    },
    series: {
      'window/window alone': '只有窗口',
      'delta_rule/recurrence alone': '只有递推',
      'cubed_relu/both': '两者都有',
    },
    knobs: {
      window: { symbol: 'W', meaning: '窗口保留多少对' },
      pairs: { symbol: 'M', meaning: '存入的键值对数' },
      key_width: { symbol: 'K', meaning: '键和值的宽度' },
      beta: { symbol: 'β', meaning: '窗口挑选一个键的锐利程度' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'depth-rounds': {
    notShown: '训练出来的停止单元，它不会这样确定；也没有时间：这里数的是运算，停下的词元只有在代码跳过它们时才省得下来。',
    panels: {
      solved: { title: '已走到链端的词元', x: '轮数 R', y: '解出的比例' },
      rounds: { title: '有停止时的轮数', x: '轮数 R', y: '一个词元的轮数' },
      cost: { title: '代价', x: '轮数 R', y: '相对一轮的倍数' },
    },
    series: {
      'cubed_relu/solved': '解出',
      'squared_relu/rounds allowed': '允许',
      'sampled_median/rounds used, mean': '实际用到，平均',
      'relu/parameters, shared': '参数，共享',
      'squared_relu/parameters, unrolled': '参数，展开',
      'cubed_relu/operations': '运算',
      'sampled_median/operations, halted': '运算，提前停止',
      'softmax_attention/K,V bytes': '键和值的字节',
    },
    knobs: {
      rounds: { symbol: 'R', meaning: '最多的轮数' },
      nodes: { symbol: 'N', meaning: '链的节点数' },
      tokens: { symbol: 'T', meaning: '词元数' },
      width: { symbol: 'D', meaning: '计算代价时该层的模型宽度' },
      seed: { symbol: 'r', meaning: '词元起点的种子' },
    },
  },
  'reset-leak': {
    notShown: '重置过的状态：它的线处处是 0，一位不差（RM09）。训练好的模型，门控和归一化可能传下更多或更少。',
    panels: {
      leak: { title: '第一个请求在第二个请求的回答里留下多少', x: '边界之后', y: '泄漏与正确回答之比' },
    },
    series: {
      'outer_product/outer product': '外积',
      'linear_attention/linear attention': '线性注意力',
      'delta_rule/delta': 'delta',
      'gated_delta_rule/gated delta': '门控 delta',
      'ssd/SSD': 'SSD',
    },
    knobs: {
      alpha: { symbol: 'α', meaning: '每个词元之后门控保留的比例' },
      first: { symbol: 'T₁', meaning: '第一个请求的词元数' },
      second: { symbol: 'T₂', meaning: '第二个请求的词元数' },
      key_width: { symbol: 'K', meaning: '键和值的宽度' },
      seeds: { symbol: 'n', meaning: '取平均的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
};
