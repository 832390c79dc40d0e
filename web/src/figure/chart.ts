// One panel of curves as SVG: a line and sparse markers for each memory, points with their intervals for what was measured, names at
// the lines' ends, values on hover.
import {
  axisX, axisY, dot, gridY, line, type Markish, plot, type PlotOptions, pointer, rect, ruleX, type ScaleOptions, text, tip,
} from '@observablehq/plot';
import type { Axis, Band, Panel, Series } from 'linearmem';
import { bytes, full, short } from '../texts/numbers.ts';
import { memoryStyle } from './memories.ts';
import { lineHeight, textWidth, wrapped } from './words.ts';

export interface PanelWords {
  title: string;
  x: string;
  y: string;
  label(series: Series): string;
  open(series: Series): boolean; // a second line of the same memory: thin, with open markers
  plane?(panel: Panel): boolean; // places in a plane: both axes on one scale
  band(label: string): string;
}

interface Point {
  x: number;
  y: number;
  title: string;
}

const left = 66; // px for the labels of the vertical axis
const titleRoom = 40; // px above the plot for everything but the title
const marginBottom = 42; // px for ticks and the name of the horizontal axis
const slack = lineHeight / 2; // px by which names may stand out of the plot
const spacing = lineHeight / 14; // of rows, in Plot's unit
const keyRoom = 16; // px for the marker before a name
const halo = { stroke: 'var(--ground)', strokeWidth: 4, strokeLinejoin: 'round' } as const; // keeps a name legible over lines
const markersPerLine = 7;

export function chart(panel: Panel, words: PanelWords, width: number): SVGSVGElement {
  const keyed = panel.series.some((series) => words.open(series)); // a memory has two lines here: markers tell their names apart
  const room = width * 0.36; // for the names at the lines' ends
  const lines = panel.series.filter(({ x }) => x.length > 0)
    .map((series) => ({ series, label: wrapped(words.label(series), room - 14 - (keyed ? keyRoom : 0)), points: pointsOf(panel, series, words) }));
  const named = lines.filter(({ series }) => !isBesideItsLine(series, panel));
  const marginRight = Math.min(room, 14 + (keyed ? keyRoom : 0) + Math.max(...named.map(({ label }) => Math.max(...label.map(textWidth)))));
  const title = wrapped(words.title, width);
  const bandNames = panel.bands.map(({ label }) => wrapped(words.band(label), width - marginRight - left));
  const bandRoom = Math.max(0, ...bandNames.map((rows) => rows.length)) * lineHeight; // between the axis' name and the plot: no line runs there
  const marginTop = titleRoom + title.length * lineHeight + bandRoom;
  const namesHeight = named.reduce((sum, { label }) => sum + label.length * lineHeight, 0);
  const across = width - marginRight - left;
  const plane = words.plane?.(panel) ?? false;
  const plotHeight = plane ? Math.round((across * spanOf(panel, 'y')) / spanOf(panel, 'x'))
    : Math.max(Math.round(Math.min(300, Math.max(170, width * 0.72 - 100))), namesHeight);
  const options: PlotOptions = {
    document: inertDocument(), className: 'curves', width, height: marginTop + plotHeight + marginBottom,
    marginTop, marginRight, marginBottom, marginLeft: left,
    x: scale(panel, panel.x, 'x', across, plane), y: scale(panel, panel.y, 'y', 260, plane),
  };
  const overhang = Math.min(marginRight, Math.max(0, textWidth(`${words.x} →`) - (width - marginRight))); // of a name longer than its axis
  const frame = [
    ...panel.bands.flatMap((band, i) => bandMarks(band, bandNames[i]!)),
    gridY({ ticks: options.y!.ticks as number[] }),
    // As text: with a format of ours, Plot would leave out labels of a logarithmic axis.
    axisX({ label: null, tickSize: 4, ticks: options.x!.ticks as number[], text: options.x!.tickFormat as never }),
    axisY({ label: null, tickSize: 0, ticks: options.y!.ticks as number[], text: options.y!.tickFormat as never }),
    text([title.join('\n')], { frameAnchor: 'top-left', dx: -left, dy: 2 - marginTop, lineAnchor: 'top', lineHeight: spacing, className: 'panel-title' }),
    text([`${words.y} ↑`], { frameAnchor: 'top-left', dx: -left, dy: -32 - bandRoom, lineAnchor: 'top', className: 'axis-name' }),
    text([`${words.x} →`], { frameAnchor: 'bottom-right', dx: overhang, dy: 38, lineAnchor: 'bottom', className: 'axis-name' }),
  ];
  const curves = lines.flatMap(({ series, points }) => (series.points ? measured(series, points, panel) : curve(series, points, words.open(series))));
  const ruler = plot({ ...options, marks: curves }).scale('y')!;
  const shifts = apart(named.map(({ label, points }) => ({ at: ruler.apply(points.at(-1)!.y) as number, height: label.length * lineHeight })),
    marginTop - slack, marginTop + plotHeight + slack);
  // The name of a single place stands below the line that it marks, where there is room and no other name.
  const lower = (i: number, points: Point[]) => (points.length === 1 && Math.abs(shifts[i]!) < 1 && (ruler.apply(points[0]!.y) as number) + shifts[i]! < marginTop + plotHeight - 2 * lineHeight ? 12 : 0);
  const names = named.flatMap(({ series, label, points }, i) => nameMarks(series, label, points.at(-1)!, {
    dy: shifts[i]! + lower(i, points), key: !keyed || series.points ? undefined : words.open(series) ? 'open' : 'filled',
  }));
  const hints = tip(lines.flatMap(({ points }) => points), pointer({ x: 'x', y: 'y', title: 'title', className: 'tip' }));
  return cleaned(plot({ ...options, marks: [...frame, ...curves, ...names, hints] }) as SVGSVGElement);
}

// A name at its line's end, behind a marker like the line's where only the markers differ.
function nameMarks({ memory }: Series, rows: string[], end: Point, { dy, key }: { dy: number; key?: 'open' | 'filled' }): Markish[] {
  const { stroke, symbol, label } = memoryStyle(memory);
  const marker = key && symbol ? [dot([end], { x: 'x', y: 'y', dx: 15, dy, stroke, fill: key === 'open' ? 'var(--ground)' : stroke, symbol, r: 4 })] : [];
  return [...marker, text([end], {
    x: 'x', y: 'y', text: () => rows.join('\n'), textAnchor: 'start', lineHeight: spacing, dx: 10 + (key ? keyRoom : 0), dy, fill: label, ...halo, className: 'line-label',
  })];
}

// Samples of a memory whose theory is a line of the same colour need no second name: the panel's title tells points from lines.
function isBesideItsLine(series: Series, { series: all }: Panel): boolean {
  return series.points && all.some((other) => !other.points && other.memory === series.memory);
}

// A band may be narrower than its name, which begins where it begins, above the plot.
function bandMarks({ from, to }: Band, name: string[]): Markish[] {
  return [
    rect([{ from, to }], { x1: 'from', x2: 'to', fill: 'var(--band)' }),
    text([name.join('\n')], { x: from, textAnchor: 'start', frameAnchor: 'top', dy: -6, lineAnchor: 'bottom', lineHeight: spacing, className: 'axis-name' }),
  ];
}

function measured(series: Series, points: Point[], panel: Panel): Markish[] {
  const { stroke, symbol } = memoryStyle(series.memory);
  const least = panel.y.logarithmic ? leastOf(panel, panel.y, 'y') : -Infinity;
  const reach = points.map((point, i) => ({ ...point, low: Math.max(series.low[i]!, least), high: series.high[i]! })).filter(({ low, high }) => high > low);
  const joined = series.low.length > 0 && !isBesideItsLine(series, panel); // samples along an axis; without intervals they are places
  const eye = !joined ? [] : [line(points, { x: 'x', y: 'y', stroke, strokeWidth: 1, strokeOpacity: 0.6 })];
  return [
    ...eye,
    ruleX(reach, { x: 'x', y1: 'low', y2: 'high', stroke, strokeWidth: 1.5 }),
    dot(points, { x: 'x', y: 'y', stroke, fill: 'var(--ground)', symbol: symbol ?? 'circle', r: 3.5, strokeWidth: 1.5 }),
  ];
}

function curve(series: Series, points: Point[], open: boolean): Markish[] {
  const { stroke, dash, symbol } = memoryStyle(series.memory);
  const every = Math.max(1, Math.ceil(points.length / markersPerLine));
  const marked = symbol ? points.filter((_, i) => (points.length - 1 - i) % every === 0) : [];
  return [
    line(points, { x: 'x', y: 'y', stroke, strokeWidth: open ? 1.25 : symbol ? 2 : 2.75, strokeDasharray: dash, strokeLinecap: 'round' }),
    dot(marked, { x: 'x', y: 'y', stroke, fill: open ? 'var(--ground)' : stroke, symbol, r: 4 }),
  ];
}

function pointsOf(panel: Panel, series: Series, words: PanelWords): Point[] {
  return [...series.x].map((x, i) => {
    const y = series.y[i]!;
    const interval = series.low.length > 0 ? ` [${short(series.low[i]!)}, ${short(series.high[i]!)}]` : '';
    return { x, y, title: `${words.label(series)}\n${words.x}: ${exactly(x, panel.x)}\n${words.y}: ${exactly(y, panel.y)}${interval}` };
  });
}

function exactly(value: number, { unit }: Axis): string {
  return unit === 'bytes' ? `${short(value)} B (${bytes(value)})` : Number.isInteger(value) ? short(value) : full(value);
}

// What an axis of a plane runs over, at least half of what the other does.
function planeDomain(panel: Panel, direction: 'x' | 'y'): [number, number] {
  const ends = (axis: 'x' | 'y') => [Math.min(...valuesOf(panel, axis)), Math.max(...valuesOf(panel, axis))] as const;
  const [[least, most], [low, high]] = [ends(direction), ends(direction === 'x' ? 'y' : 'x')];
  const half = Math.max(most - least, (high - low) / 2) / 2;
  return [(least + most) / 2 - half, (least + most) / 2 + half];
}

function spanOf(panel: Panel, direction: 'x' | 'y'): number {
  const [least, most] = planeDomain(panel, direction);
  return most - least;
}

function scale(panel: Panel, axis: Axis, direction: 'x' | 'y', pixels: number, plane = false): ScaleOptions {
  const [least, most] = [leastOf(panel, axis, direction), Math.max(...valuesOf(panel, direction))];
  const tickFormat = (value: number) => (axis.unit === 'bytes' ? bytes(value) : axis.logarithmic && axis.unit === '' && value >= 1e6 ? value.toExponential().replace('+', '') : short(value));
  if (!axis.logarithmic) {
    if (plane) return { type: 'linear', domain: planeDomain(panel, direction), ticks: direction === 'x' ? Math.max(3, Math.round(pixels / 60)) : 5, tickFormat: tickFormat as never };
    const domain = direction === 'y' ? [Math.min(0, least), most > 0 ? most : 1] : [least, most > least ? most : least + 1];
    const fewest = Math.max(3, Math.round(pixels / 60));
    const whole = direction === 'x' && valuesOf(panel, 'x').every(Number.isInteger) ? most - least : Infinity; // no ticks between whole numbers
    return { type: 'linear', domain, nice: direction === 'y', ticks: Math.min(whole, fewest), tickFormat: tickFormat as never };
  }
  const base = ['bytes', 'tokens'].includes(axis.unit) ? 2 : 10; // these come in powers of two
  const ticks = powers(base, least, most, pixels / (direction === 'x' ? textWidth(tickFormat(base ** Math.floor(logOf(base, most)))) + 20 : 34));
  return { type: 'log', base, domain: [least, most], ticks: ticks as never, tickFormat: tickFormat as never };
}

function valuesOf(panel: Panel, direction: 'x' | 'y'): number[] {
  const ends = direction === 'y' ? ['y', 'high'] as const : ['x'] as const;
  return panel.series.flatMap((series) => ends.flatMap((end) => [...series[end]]));
}

// A logarithmic axis shows what is above 0.
function leastOf(panel: Panel, axis: Axis, direction: 'x' | 'y'): number {
  const values = panel.series.flatMap((series) => [...series[direction]]);
  return Math.min(...(axis.logarithmic ? values.filter((value) => value > 0) : values));
}

// Ticks at powers of the base; between powers of ten also at 2 and 5 where there are few and room for them.
function powers(base: number, least: number, most: number, room: number): number[] {
  const [first, last] = [Math.ceil(logOf(base, least)), Math.floor(logOf(base, most))];
  const stride = Math.max(1, Math.ceil((last - first + 1) / Math.max(2, room)));
  const steps = base === 10 && last - first < 2 && (logOf(10, most) - logOf(10, least)) / logOf(10, 2) <= room ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let exponent = stride === 1 ? first - 1 : Math.ceil(first / stride) * stride; exponent <= last; exponent += stride) {
    ticks.push(...steps.map((step) => (exponent < 0 ? step / base ** -exponent : step * base ** exponent)));
  }
  return ticks.filter((tick) => tick >= least && tick <= most);
}

function logOf(base: number, value: number): number {
  return base === 2 ? Math.log2(value) : Math.log10(value);
}

// How far each label must move so that none covers another and all stay between top and bottom, which have room for them.
function apart(labels: { at: number; height: number }[], top: number, bottom: number): number[] {
  const order = labels.map((_, i) => i).sort((a, b) => labels[a]!.at - labels[b]!.at);
  const placed = labels.map(({ at }) => at);
  for (let round = 0; round < 12; round += 1) {
    for (let i = 1; i < order.length; i += 1) {
      const [above, below] = [order[i - 1]!, order[i]!];
      const lack = (labels[above]!.height + labels[below]!.height) / 2 - (placed[below]! - placed[above]!);
      if (lack <= 0) continue;
      placed[above]! -= lack / 2;
      placed[below]! += lack / 2;
    }
  }
  const half = (i: number) => labels[i]!.height / 2;
  let edge = top;
  for (const i of order) {
    placed[i] = Math.max(placed[i]!, edge + half(i));
    edge = placed[i]! + half(i);
  }
  edge = bottom;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i]!, edge - half(i));
    edge = placed[i]! - half(i);
  }
  return placed.map((position, i) => position - labels[i]!.at);
}

// Plot writes a <style>, which a strict policy refuses in a live document; in an inert one it may. The window is lent for events.
function inertDocument(): Document {
  const inert = document.implementation.createHTMLDocument();
  return {
    documentElement: inert.documentElement, defaultView: window, createTextNode: (text: string) => inert.createTextNode(text),
  } as unknown as Document;
}

// Plot's <style> goes (figure.css has its rules), and so do labels on groups that have no role to carry them.
function cleaned(svg: SVGSVGElement): SVGSVGElement {
  svg.querySelectorAll('style').forEach((style) => style.remove());
  for (const group of svg.querySelectorAll('[aria-label], [aria-description]')) {
    group.removeAttribute('aria-label');
    group.removeAttribute('aria-description');
  }
  return document.adoptNode(svg);
}
