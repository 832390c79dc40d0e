// Making SVG elements.
const svgName = 'http://www.w3.org/2000/svg';

export function node(tag: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(svgName, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

export function caption(words: string, x: number, y: number, name: string): SVGElement {
  const made = node('text', { x, y, class: name });
  made.textContent = words;
  return made;
}
