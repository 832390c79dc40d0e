export { figures } from './figures.ts';
export { messages } from './messages.ts';
