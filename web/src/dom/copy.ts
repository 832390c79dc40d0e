// A command with a button that copies it. Where the clipboard is refused, the command is selected instead.
import type { Texts } from '../texts/languages.ts';
import { element } from './element.ts';

export function copyable(command: string, texts: Texts): HTMLElement {
  const code = element('code', {}, ...command.split(/( )/).map((word) => (word === ' ' ? word : element('span', {}, word))));
  return element('div', { class: 'command' }, code, copyButton(texts, texts.say('copy.do'), () => command, code));
}

export function copyButton(texts: Texts, label: string, text: () => string, shown?: HTMLElement): HTMLButtonElement {
  const button = element('button', { type: 'button', class: 'quiet' }, label);
  button.addEventListener('click', () => void copy(text(), shown).then((done) => {
    button.textContent = texts.say(done ? 'copy.done' : 'copy.by-hand');
    setTimeout(() => { button.textContent = label; }, 2000);
  }));
  return button;
}

async function copy(text: string, shown?: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown) getSelection()?.selectAllChildren(shown);
    else prompt('', text);
    return false;
  }
}
