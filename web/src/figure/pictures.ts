// A panel of small square pictures, one for each series: every pixel grey by its value, on one scale for all of them. Values beyond the
// scale are cut off here and nowhere else.
import type { Panel, Series } from 'linearmem';
import { caption, node } from './svg.ts';
import { lineHeight, wrapped } from './words.ts';

const gap = 18; // px between pictures
const captionHeight = 24;
const titleGap = 12; // px between title and pictures
const largest = 150; // px, side of a picture

export interface PictureWords {
  title: string;
  label(series: Series): string;
}

export function pictures(panel: Panel, words: PictureWords, width: number): SVGSVGElement {
  const count = panel.series.length;
  const perRow = Math.max(1, Math.min(count, Math.floor((width + gap) / (96 + gap))));
  const side = Math.min(largest, Math.floor((width + gap) / perRow) - gap);
  const rows = Math.ceil(count / perRow);
  const title = wrapped(words.title, width);
  const titleHeight = title.length * lineHeight + titleGap;
  const svg = node('svg', {
    class: 'curves pictures', width, height: titleHeight + rows * (side + captionHeight + gap) - gap,
  }) as SVGSVGElement;
  svg.append(...title.map((row, i) => caption(row, 0, 14 + i * lineHeight, 'panel-title')));
  panel.series.forEach((series, i) => {
    const [left, top] = [(i % perRow) * (side + gap), titleHeight + Math.floor(i / perRow) * (side + captionHeight + gap)];
    svg.append(...pixels(series, panel, left, top, side), caption(words.label(series), left, top + side + 17, 'axis-name'));
  });
  return svg;
}

function pixels(series: Series, { columns, limit }: Panel, left: number, top: number, side: number): SVGElement[] {
  const step = side / columns;
  const frame = node('rect', { x: left - 0.5, y: top - 0.5, width: side + 1, height: side + 1, class: 'picture-frame' });
  return [frame, ...[...series.y].map((value, i) => node('rect', {
    x: left + (i % columns) * step, y: top + Math.floor(i / columns) * step, width: step, height: step, fill: grey(value / limit), 'shape-rendering': 'crispEdges',
  }))];
}

// -1 black, 1 white.
function grey(share: number): string {
  const level = Math.round((Math.min(1, Math.max(-1, share)) + 1) * 127.5);
  return `rgb(${level},${level},${level})`;
}
