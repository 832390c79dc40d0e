// Making elements without a framework: element('a', { href: '#LM05' }, 'LM05').
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

export function element<T extends keyof HTMLElementTagNameMap>(
  tag: T, attributes: Attributes = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[T] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children);
  return made;
}

export function find<T extends Element = HTMLElement>(root: ParentNode, selector: string): T {
  const found = root.querySelector<T>(selector);
  if (!found) throw new Error(`the page lacks ${selector}`);
  return found;
}
