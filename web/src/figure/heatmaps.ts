// A panel of matrices as heatmaps: one diverging scale centred at zero for all of them, numbers in the cells of small ones, signs of
// arithmetic between them. Colours mix with the ground, so light and dark need no redrawing.
import type { Panel, Series } from 'linearmem';
import { full } from '../texts/numbers.ts';
import { cellNumber, small } from './matrix_numbers.ts';
import { caption, node } from './svg.ts';
import { lineHeight, textWidth, wrapped } from './words.ts';

const largest = 46; // px, side of a cell
const legible = 33; // px, from which on a number fits
const roomy = 43; // px, from which on it fits at full size
const gap = 26; // px between matrices, for the sign
const captionGap = 6;
const leftEdge = 40; // px for the numbers beside a matrix
const topEdge = 20;
const strongest = 0.72; // of the colour, so that a number stays legible on it

export interface MatrixWords {
  title: string;
  label(series: Series): string;
}

// What is said about one matrix beside its numbers.
export interface MatrixNotes {
  hidden?: boolean; // it is not drawn by itself
  sign?: string; // before it: '+', '='
  lit?: { row?: number }; // a row that is read, or all of what is written
  left?: readonly number[]; // the factors of an outer product
  top?: readonly number[];
}

export type NotesOf = (panel: Panel, series: Series) => MatrixNotes;

interface Placed {
  series: Series;
  notes: MatrixNotes;
  label: string[];
  x: number;
  y: number;
}

export function heatmaps(whole: Panel, words: MatrixWords, width: number, notesOf: NotesOf): SVGSVGElement {
  const panel = { ...whole, series: whole.series.filter((series) => !notesOf(whole, series).hidden) };
  const rows = Math.max(...panel.series.map((series) => rowsOf(series, panel)));
  const side = cellSide(panel, width, notesOf);
  const title = wrapped(words.title, width);
  const { placed, right, bottom } = place(panel, words, { width, side, rows, top: title.length * lineHeight + 10, notesOf });
  const drawnWidth = Math.min(width, Math.max(right, ...title.map(textWidth)));
  const svg = node('svg', { class: 'curves heatmaps', width: Math.ceil(drawnWidth), height: Math.ceil(bottom) }) as SVGSVGElement;
  svg.append(...title.map((row, i) => caption(row, 0, 14 + i * lineHeight, 'panel-title')));
  for (const one of placed) svg.append(...matrix(one, panel, side));
  return svg;
}

const rowsOf = ({ y }: Series, { columns }: Panel) => Math.ceil(y.length / columns);

// As large as one row of matrices allows; where they would become illegible, they wrap and each may be as wide as the panel.
function cellSide(panel: Panel, width: number, notesOf: NotesOf): number {
  const edge = panel.series.some((series) => notesOf(panel, series).left) ? leftEdge : 0;
  const sharing = (matrices: number) => (width - edge - gap * matrices) / (panel.columns * matrices);
  const [beside, half, alone] = [sharing(panel.series.length), sharing(2), sharing(1)];
  const best = [beside, half, alone].find((side) => side >= legible) ?? (panel.columns > small ? Math.max(half, Math.min(alone, 14)) : alone);
  return Math.floor(Math.max(6, Math.min(largest, best)));
}

interface Room {
  width: number;
  side: number;
  rows: number; // of the tallest matrix
  top: number;
  notesOf: NotesOf;
}

function place(panel: Panel, words: MatrixWords, { width, side, rows, top, notesOf }: Room): { placed: Placed[]; right: number; bottom: number } {
  const placed: Placed[] = [];
  const own = panel.columns * side;
  const upper = panel.series.some((series) => notesOf(panel, series).top) ? topEdge : 0;
  let [x, y, right, tallestLabel] = [0, top + upper, 0, 0];
  for (const series of panel.series) {
    const notes = notesOf(panel, series);
    const edge = notes.left ? leftEdge : 0;
    if (x > 0 && x + gap + edge + own > width) {
      y += rows * side + captionGap + tallestLabel + upper + 14;
      [x, tallestLabel] = [0, 0];
    }
    const left = x + (x > 0 || notes.sign ? gap : 0) + edge;
    const label = wrapped(words.label(series), Math.max(own, 72));
    tallestLabel = Math.max(tallestLabel, label.length * lineHeight);
    placed.push({ series, notes, label, x: left, y });
    x = left + Math.max(own, ...label.map(textWidth));
    right = Math.max(right, x);
  }
  return { placed, right: right + 1, bottom: y + rows * side + captionGap + tallestLabel };
}

function matrix({ series, notes, label, x, y }: Placed, panel: Panel, side: number): SVGElement[] {
  const { columns } = panel;
  const rows = rowsOf(series, panel);
  const numbered = rows <= small && columns <= small && side >= legible;
  const parts = [...series.y].flatMap((value, i) => cell(value, panel.limit, { x: x + (i % columns) * side, y: y + Math.floor(i / columns) * side, side, numbered,
    place: `${label.join(' ')} [${Math.floor(i / columns) + 1}, ${(i % columns) + 1}]` }));
  parts.push(node('rect', { x, y, width: columns * side, height: rows * side, class: 'picture-frame' }));
  parts.push(...boundaries(panel, rows, side).map(({ x1, x2, y1, y2 }) => node('line', { x1: x + x1, x2: x + x2, y1: y + y1, y2: y + y2, class: 'boundary' })));
  if (notes.lit) {
    const { row } = notes.lit;
    parts.push(node('rect', { x, y: y + (row ?? 0) * side, width: columns * side, height: (row === undefined ? rows : 1) * side, class: 'lit' }));
  }
  if (notes.sign) parts.push(caption(notes.sign, x - (notes.left ? leftEdge : 0) - gap / 2, y + (rows * side) / 2 + 6, 'sign'));
  notes.left?.forEach((value, row) => parts.push(caption(cellNumber(value), x - 5, y + (row + 0.5) * side + 5, 'factor beside')));
  const factor = side < roomy ? 'factor tight' : 'factor';
  notes.top?.forEach((value, column) => parts.push(caption(cellNumber(value), x + (column + 0.5) * side, y - 6, factor)));
  label.forEach((line, i) => parts.push(caption(line, x, y + rows * side + captionGap + 13 + i * lineHeight, 'axis-name')));
  return parts;
}

// Where chunks meet, on both axes.
function boundaries({ bands, columns }: Panel, rows: number, side: number): { x1: number; x2: number; y1: number; y2: number }[] {
  return bands.map(({ from }) => from * side).filter((at) => at > 0).flatMap((at) => [
    { x1: at, x2: at, y1: 0, y2: rows * side }, ...(rows === columns ? [{ x1: 0, x2: columns * side, y1: at, y2: at }] : []),
  ]);
}

interface Cell {
  x: number;
  y: number;
  side: number;
  numbered: boolean;
  place: string;
}

function cell(value: number, limit: number, { x, y, side, numbered, place }: Cell): SVGElement[] {
  const share = Math.min(1, Math.abs(value) / limit) * strongest;
  const box = node('rect', { x, y, width: side, height: side, class: value < 0 ? 'cell below' : 'cell above', 'fill-opacity': share.toFixed(3) });
  const exact = node('title', {});
  exact.textContent = `${place} = ${full(value)}`;
  box.append(exact);
  return numbered ? [box, caption(cellNumber(value), x + side / 2, y + side / 2 + 4.5, side < roomy ? 'cell-number tight' : 'cell-number')] : [box];
}
