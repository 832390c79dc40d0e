// What a call of each mechanism takes in the reader's browser, over the number of tokens, beside the operations it stands for. The gated linear
// attention is a second line of linear attention.
import { lineRoom } from '../figure/line_room.ts';

export const room = lineRoom('wall-clock', { open: (series) => series.label === 'gated linear', byHand: true });
