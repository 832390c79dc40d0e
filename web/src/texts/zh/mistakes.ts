import type { mistakes as english } from '../en/mistakes.ts';

export const mistakes: Record<keyof typeof english, { label: string; why: string }> = {
  'read-before-write': {
    label: '先读后写',
    why: '词元读状态时，自己那一对键值还没有写进去。于是第一个输出是零，之后每个输出都缺了最新的一对。',
  },
  'half-beta': {
    label: '写入强度减半',
    why: '当 $\\beta=0.5$ 时，一次写入只走到新值的一半，旧值有一部分留在答案里。',
  },
  'no-forgetting': {
    label: '从不遗忘',
    why: '当 $\\alpha=1$ 时什么都不会淡去：本该缩到 0.8 的方向，读回来仍是原来的大小。',
  },
  'single-precision': {
    label: '用 float32 计算',
    why: 'float32 只有大约七位十进制数字。结果看起来一样，实际相差约 $10^{-7}$，远大于 $10^{-12}$。',
  },
  'no-reset': {
    label: '请求之间不重置',
    why: '第二个请求从第一个请求留下的状态开始，读到了从未交给它的值。',
  },
  'error-before-decay': {
    label: '衰减之前量误差',
    why: '误差取自衰减之前的状态，却写进衰减之后的状态，修正的对象已经不在了。',
  },
  'no-causal-mask': {
    label: '不加因果掩码',
    why: '所有的键，连未来的也在内，都在同一个状态里，所以改动最后一个值会影响第一个输出。',
  },
  'repeated-keys': {
    label: '有放回地抽键',
    why: '同一个键可能对应两个值。问题于是有两个答案，记忆答出另一个就被判错。',
  },
  'newest-only': {
    label: '只问最新的一对',
    why: 'delta 记忆总能读回最后写入的内容，窗口里也总有它。只问这一对，固定的状态就好像什么都记得住。',
  },
};
