// The table of contents: which chapter the reader is in, and, where there is no room beside the text, a list that folds.
import { find } from '../dom/element.ts';

export function followContents(nav: HTMLElement): void {
  const button = find<HTMLButtonElement>(nav, '.contents-button');
  const links = [...nav.querySelectorAll<HTMLAnchorElement>('ol a')];
  const unfold = (open: boolean) => button.setAttribute('aria-expanded', String(open));
  button.addEventListener('click', () => unfold(button.getAttribute('aria-expanded') !== 'true'));
  nav.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || button.getAttribute('aria-expanded') !== 'true') return;
    unfold(false);
    button.focus();
  });
  for (const link of links) link.addEventListener('click', () => unfold(false));

  const here = find(nav, '.contents-here');
  const mark = (id: string) => {
    here.replaceChildren();
    for (const link of links) {
      if (link.hash === `#${id}`) {
        link.setAttribute('aria-current', 'true');
        here.replaceChildren(...[...link.childNodes].map((part) => part.cloneNode(true)));
      } else link.removeAttribute('aria-current');
    }
  };
  // A section is where the reader is while it crosses a line near the top of the window.
  const crossing = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) mark(target.id);
  }, { rootMargin: '-20% 0px -79% 0px' });
  for (const section of document.querySelectorAll('main > section')) crossing.observe(section);
}
