// The numbers under a figure: one table for each panel, one column for each memory.
import type { Axis, Panel, Series } from 'linearmem';
import { element } from '../dom/element.ts';
import { bytes, full, short } from '../texts/numbers.ts';

export function dataTable(panel: Panel, title: string, xName: string, labelOf: (series: Series) => string): HTMLElement {
  const values = panel.series.map((series) => new Map([...series.x].map((x, i) => [x, series.y[i]!])));
  const xs = [...new Set(panel.series.flatMap((series) => [...series.x]))].sort((a, b) => a - b);
  const head = element('tr', {}, element('th', { scope: 'col' }, xName),
    ...panel.series.map((series) => element('th', { scope: 'col' }, labelOf(series))));
  const rows = xs.map((x) => element('tr', {}, element('th', { scope: 'row', title: full(x), 'data-label': xName }, short(x)),
    ...values.map((column, i) => valueCell(column.get(x), panel.y, labelOf(panel.series[i]!)))));
  return element('table', { class: 'data' }, element('caption', {}, title), element('thead', {}, head), element('tbody', {}, ...rows));
}

// The label stands beside the value where a phone has no room for columns.
function valueCell(value: number | undefined, { unit }: Axis, label: string): HTMLElement {
  if (value === undefined) return element('td', { 'data-label': label }, '–');
  return element('td', { title: full(value), 'data-label': label }, unit === 'bytes' ? bytes(value) : short(value));
}
