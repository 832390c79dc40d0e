// A figure as a file: SVG and PNG with every style resolved, CSV and JSON with every digit.
import type { Figure, Series } from 'linearmem';
import { full } from '../texts/numbers.ts';
import type { Settings } from './room.ts';

const resolved = [
  'fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin',
  'opacity', 'font-family', 'font-size', 'font-weight', 'font-style', 'font-variant-numeric', 'text-anchor', 'paint-order', 'visibility',
];
const svgName = 'http://www.w3.org/2000/svg';
const margin = 12;

// As `linearmem sweep NAME --csv` prints it.
export function toCsv({ panels }: Figure): string {
  const lines = ['panel,memory,label,x,y,low,high'];
  for (const { name, series } of panels) {
    for (const { memory, label, x, y, low, high } of series) {
      const head = [name, memory, label].map(quoted).join(',');
      const end = (ends: Float64Array, i: number) => (ends.length > 0 ? full(ends[i]!) : '');
      x.forEach((value, i) => lines.push(`${head},${full(value)},${full(y[i]!)},${end(low, i)},${end(high, i)}`));
    }
  }
  return `${lines.join('\n')}\n`;
}

// The panels as the module gave them, with what they were computed from. JSON has no word for what is not a number: null.
export function toJson(experiment: string, settings: Settings, command: string, figure?: Figure): string {
  const numbers = (values: Float64Array) => [...values];
  const plain = ({ x, y, low, high, ...rest }: Series) => ({ ...rest, x: numbers(x), y: numbers(y), low: numbers(low), high: numbers(high) });
  const panels = figure?.panels.map(({ series, ...rest }) => ({ ...rest, series: series.map(plain) })) ?? [];
  return `${JSON.stringify({ experiment, settings, command, panels }, null, 1)}\n`;
}

function quoted(text: string): string {
  return `"${text.replace(/"/g, '""')}"`;
}

// All panels in one picture, placed as they stand on the page, on the page's ground.
export function toSvg(host: HTMLElement): SVGSVGElement {
  const frame = host.getBoundingClientRect();
  const picture = document.createElementNS(svgName, 'svg');
  const [width, height] = [Math.ceil(frame.width) + 2 * margin, Math.ceil(frame.height) + 2 * margin];
  set(picture, { xmlns: svgName, width, height, viewBox: `0 0 ${width} ${height}` });
  const ground = document.createElementNS(svgName, 'rect');
  set(ground, { width, height, fill: getComputedStyle(host).getPropertyValue('--ground').trim() });
  picture.append(ground);
  for (const svg of host.querySelectorAll('svg')) {
    const box = svg.getBoundingClientRect();
    const copy = resolvedCopy(svg);
    set(copy, { x: box.left - frame.left + margin, y: box.top - frame.top + margin, overflow: 'visible' });
    picture.append(copy);
  }
  return picture;
}

function resolvedCopy(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((node, i) => {
    const style = getComputedStyle(originals[i]!);
    for (const property of resolved) node.setAttribute(property, style.getPropertyValue(property));
    node.removeAttribute('class');
    node.removeAttribute('style');
  });
  for (const name of ['role', 'aria-label']) copy.removeAttribute(name);
  return copy;
}

function set(node: Element, attributes: Record<string, string | number>): void {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
}

export function svgFile(host: HTMLElement): Blob {
  return new Blob([new XMLSerializer().serializeToString(toSvg(host))], { type: 'image/svg+xml' });
}

export async function pngFile(host: HTMLElement, scale = 2): Promise<Blob> {
  const picture = toSvg(host);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(picture))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Number(picture.getAttribute('width')) * scale;
  canvas.height = Number(picture.getAttribute('height')) * scale;
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('this browser gives no 2d canvas');
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the canvas gave no PNG')))));
}
