import type { FigureTexts } from '../languages.ts';
import { associative } from './figures/associative.ts';
import { matrices } from './figures/matrices.ts';
import { mechanisms } from './figures/mechanisms.ts';
import { recall } from './figures/recall.ts';
import { ledger } from './ledger.ts';

export const figures: FigureTexts = {
  withUnit: '{name}（{unit}）',
  units: { tokens: '词元', bytes: '字节', ms: '毫秒' },
  bands: { 'exact recovery': '精确恢复，M ≤ K', context: '上下文以内', 'softmax below gated delta': 'softmax 低于门控 delta', 'inside the window': '窗口之内',
    'memory: domain differs: the store has "own", "foreign" is expected': '权限域不符：记忆属于 own，送来的记录属于 foreign' },
  reading: {
    description: '{title}。最右端{x}为 {value} 时：{items}。',
    pictured: '{title}：{items}。',
    item: '{memory} {amount}',
    between: '；',
  },
  editor: { title: '画另一幅图', pixel: '第 {row} 行第 {column} 列', clear: '清空' },
  matrix: { title: '{title}：{label}', row: '第 {number} 行', column: '第 {number} 列' },
  stepper: { back: '上一个词元', on: '下一个词元', at: '第 {step} 个词元，共 {last} 个' },
  experiments: { ledger, ...mechanisms, ...matrices, ...associative, ...recall },
};
