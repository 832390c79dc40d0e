// Printing shows every figure. A print that the browser starts cannot be made to wait, so the keys for it are taken over and the print is
// started when the last figure is there; what else starts one finds at least the figures that were seen.
import { find } from '../dom/element.ts';

export function printWithFigures(figures: { all(): Promise<void> }): void {
  const button = find<HTMLButtonElement>(document, '.print-all');
  let underWay = false;
  const start = async () => {
    if (underWay) return;
    underWay = true;
    button.setAttribute('aria-busy', 'true');
    try {
      await figures.all();
    } finally {
      underWay = false;
      button.removeAttribute('aria-busy');
    }
    print();
  };
  button.disabled = false;
  button.addEventListener('click', () => void start());
  addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'p' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void start();
  });
}
