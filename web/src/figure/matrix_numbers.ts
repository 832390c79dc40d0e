// The numbers of matrices: in a cell, and as tables under the figure.
import type { Panel, Series } from 'linearmem';
import { element } from '../dom/element.ts';
import { full, short } from '../texts/numbers.ts';

export const small = 8; // rows and columns up to which cells have numbers

const noise = 1e-12; // what rounding leaves of a whole number

// Two decimals, of whole numbers none, of numbers above ten one.
export function cellNumber(value: number): string {
  const nearest = Math.round(value);
  if (Math.abs(value - nearest) < noise) return short(nearest === 0 ? 0 : nearest);
  return value.toFixed(Math.abs(value) < 9.995 ? 2 : 1).replace(/^-(?!0\.00)/, '\u2212').replace('-', '');
}

export interface MatrixTableWords {
  row(number: number): string;
  column(number: number): string;
}

export function matrixTable({ y }: Series, { columns }: Panel, title: string, words: MatrixTableWords): HTMLElement {
  const width = Math.min(columns, y.length);
  const head = element('tr', {}, element('td'), ...Array.from({ length: width }, (_, column) => element('th', { scope: 'col' }, words.column(column + 1))));
  const rows = Array.from({ length: Math.ceil(y.length / columns) }, (_, row) => element('tr', {},
    element('th', { scope: 'row', 'data-label': '' }, words.row(row + 1)),
    ...[...y.slice(row * columns, (row + 1) * columns)].map((value, column) => element('td', { title: full(value), 'data-label': words.column(column + 1) }, short(value)))));
  return element('table', { class: 'data' }, element('caption', {}, title), element('thead', {}, head), element('tbody', {}, ...rows));
}
