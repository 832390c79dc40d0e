// The figures of associative memory.
import type { associative as english } from '../../en/figures/associative.ts';
import type { Loosened } from '../../languages.ts';

export const associative: Loosened<typeof english> = {
  'picture-readback': {
    notShown: '多于一次的随机抽取；阈值或其他清理图像的办法。超出 ±0.125 的灰度只在图上截断，R 不截断。',
    panels: {
      pictures: { title: '读回的图像，同一灰度标尺，从 −0.125 到 0.125', x: '像素', y: '值' },
      ratio: { title: '这幅图的 R，一次抽取', x: '存入的项数 M', y: '这幅图的 R' },
    },
    series: {
      'outer_product/stored': '存入的图',
      'outer_product/M = 1': 'M = 1',
      'outer_product/M = 16': 'M = 16',
      'outer_product/M = 64': 'M = 64',
      'outer_product/M = 256': 'M = 256',
      'outer_product/M of the knob': '此时的 M',
      'linear_attention/RMS, theory': '均方根，理论',
      'outer_product/this draw': '这次抽取',
      'sampled_mean/M of the knob': '此时的 M',
    },
    knobs: {
      items: { symbol: 'M', meaning: '存入的项数' },
      seed: { symbol: 'r', meaning: '其他项的种子' },
      picture_top: { symbol: 'T', meaning: '图像第 1 到 4 行的位' },
      picture_bottom: { symbol: 'B', meaning: '图像第 5 到 8 行的位' },
    },
  },
  'interference-growth': {
    notShown: '彼此相像的键，那样更糟；单个 R 围绕统计量的散布。',
    panels: {
      growth: { title: '线性权重下的 R（线：理论；点：抽样，95 % 区间）', x: '存入的项数 M', y: 'R' },
    },
    series: {
      'outer_product/RMS, theory': '均方根',
      'outer_product/RMS, sampled': '均方根，抽样',
      'sampled_median/median, sampled': '中位数，抽样',
      'sampled_mean/mean, sampled': '平均数，抽样',
    },
    knobs: {
      key_width: { symbol: 'K', meaning: '键的宽度' },
      items: { symbol: 'M', meaning: '抽样的最多项数' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'least-squares': {
    notShown: '最小二乘在写入时必须知道所有的键。超过 K 项的理论对高斯键精确，对这里的键接近。',
    panels: {
      'least-squares': { title: 'R 的均方根（线：理论；点：抽样，95 % 区间）', x: '存入的项数 M', y: 'R 的均方根' },
    },
    series: {
      'outer_product/outer product, RMS, theory': '外积',
      'outer_product/outer product, RMS, sampled': '外积，抽样',
      'least_squares/least squares, RMS, theory': '最小二乘',
      'least_squares/least squares, RMS, sampled': '最小二乘，抽样',
    },
    knobs: {
      key_width: { symbol: 'K', meaning: '键的宽度' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  responses: {
    notShown: '带噪声的查询，以及彼此相像的键。R = 1 处，其他所有项合起来与目标项一样重。',
    panels: {
      responses: { title: '各种响应下 R 的均方根（线：理论；点：抽样，95 % 区间）', x: '存入的项数 M', y: 'R 的均方根' },
    },
    series: {
      'outer_product/linear': '线性',
      'outer_product/linear, sampled': '线性，抽样',
      'relu/ReLU': 'ReLU',
      'relu/ReLU, sampled': 'ReLU，抽样',
      'squared_relu/squared ReLU': 'ReLU²',
      'squared_relu/squared ReLU, sampled': 'ReLU²，抽样',
      'cubed_relu/cubed ReLU': 'ReLU³',
      'cubed_relu/cubed ReLU, sampled': 'ReLU³，抽样',
      'softmax_attention/exponential': '指数',
      'softmax_attention/exponential, sampled': '指数，抽样',
    },
    knobs: {
      beta: { symbol: 'β', meaning: '指数挑选一项的锐利程度' },
      key_width: { symbol: 'K', meaning: '键的宽度' },
      items: { symbol: 'M', meaning: '抽样的最多项数' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'truncated-exponentials': {
    notShown: '项数为偶数时，方向相反的键会答出负数。每个多项式都与它自己对完全匹配的回答相比。',
    panels: {
      truncated: { title: '取不同项数时 R 的均方根（线：理论；点：抽样，95 % 区间）', x: '存入的项数 M', y: 'R 的均方根' },
    },
    series: {
      'relu/2 terms': '2 项',
      'relu/2 terms, sampled': '2 项，抽样',
      'squared_relu/3 terms': '3 项',
      'squared_relu/3 terms, sampled': '3 项，抽样',
      'cubed_relu/4 terms': '4 项',
      'cubed_relu/4 terms, sampled': '4 项，抽样',
      'softmax_attention/exponential': '指数',
      'softmax_attention/exponential, sampled': '指数，抽样',
    },
    knobs: {
      beta: { symbol: 'β', meaning: '指数挑选一项的锐利程度' },
      key_width: { symbol: 'K', meaning: '键的宽度' },
      items: { symbol: 'M', meaning: '抽样的最多项数' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'softmax-weights': {
    notShown: '值，以及不与某个键完全匹配的查询。',
    panels: {
      weights: { title: '一个查询的全部 softmax 权重', x: '项，按匹配程度从高到低', y: 'softmax 权重' },
    },
    series: {
      'relu/beta = 1': 'β = 1',
      'squared_relu/beta = 4': 'β = 4',
      'cubed_relu/beta = 16': 'β = 16',
      'softmax_attention/beta of the knob': '此时的 β',
    },
    knobs: {
      beta: { symbol: 'β', meaning: '指数挑选一项的锐利程度' },
      items: { symbol: 'M', meaning: '存入的项数' },
      key_width: { symbol: 'K', meaning: '键的宽度' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'logn-sharpening': {
    notShown: '训练好的模型的得分是什么样；这里是随机的键。',
    panels: {
      sharpening: { title: 'R 的均方根（线：理论；点：抽样，95 % 区间）', x: '存入的项数 M', y: 'R 的均方根' },
    },
    series: {
      'softmax_attention/fixed beta': '固定的 β',
      'softmax_attention/fixed beta, sampled': '固定的 β，抽样',
      'cubed_relu/LogN': 'LogN',
      'cubed_relu/LogN, sampled': 'LogN，抽样',
    },
    knobs: {
      beta: { symbol: 'β', meaning: '指数挑选一项的锐利程度' },
      trained_items: { symbol: 'M₀', meaning: 'β 保持不变的项数上限' },
      key_width: { symbol: 'K', meaning: '键的宽度' },
      items: { symbol: 'M', meaning: '抽样的最多项数' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  'noisy-query': {
    notShown: '朝向另一个键的噪声，危害更大；这里的方向是随机的。',
    panels: {
      noise: { title: 'R 的均方根与匹配程度（线：理论；点：抽样，95 % 区间）', x: '查询与键的匹配 ρ', y: 'R 的均方根' },
    },
    series: {
      'outer_product/linear': '线性',
      'outer_product/linear, sampled': '线性，抽样',
      'squared_relu/squared ReLU': 'ReLU²',
      'squared_relu/squared ReLU, sampled': 'ReLU²，抽样',
      'softmax_attention/exponential': '指数',
      'softmax_attention/exponential, sampled': '指数，抽样',
    },
    knobs: {
      beta: { symbol: 'β', meaning: '指数挑选一项的锐利程度' },
      items: { symbol: 'M', meaning: '存入的项数' },
      key_width: { symbol: 'K', meaning: '键的宽度' },
      seeds: { symbol: 'n', meaning: '抽样的种子数' },
      first_seed: { symbol: 'r', meaning: '第一个种子' },
    },
  },
  hopfield: {
    notShown: '停下并不等于到了不动点。各模式均匀分布在圆上；最多走 300 步。',
    panels: {
      path: { title: '状态走过的路', x: '第一分量', y: '第二分量' },
      energy: { title: '沿途的能量', x: '步', y: '能量' },
      steps: { title: '停下之前的步数', x: 'β', y: '步数' },
    },
    series: {
      'least_squares/patterns': '模式',
      'softmax_attention/state': '状态',
      'softmax_attention/energy': '能量',
      'softmax_attention/steps': '步数',
      'sampled_mean/beta of the knob': '此时的 β',
    },
    knobs: {
      beta: { symbol: 'β', meaning: '每一步挑选一个模式的锐利程度' },
      patterns: { symbol: 'P', meaning: '圆上的模式数' },
      start_x: { symbol: 'x', meaning: '起点的第一分量' },
      start_y: { symbol: 'y', meaning: '起点的第二分量' },
      tolerance: { symbol: 'ε', meaning: '停下时权重还可移动多少' },
    },
  },
};
