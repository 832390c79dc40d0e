// The figures of associative memory. One has a picture that the reader draws.
import { lineRoom } from '../figure/line_room.ts';
import { pictureEditor } from '../figure/picture_editor.ts';
import type { Room } from '../figure/room.ts';
import { fill } from '../texts/languages.ts';

const readback = lineRoom('picture-readback', {
  editor: {
    settings: ['picture_top', 'picture_bottom'],
    make: (defaults, texts, change) => pictureEditor({ ...texts.figures.editor, fill }, defaults, change),
  },
});

export const rooms: Record<string, Room> = Object.fromEntries([
  readback,
  lineRoom('hopfield', { plane: 'path' }),
  ...(['interference-growth', 'least-squares', 'responses', 'truncated-exponentials', 'softmax-weights', 'logn-sharpening', 'noisy-query',
  ] as const).map((experiment) => lineRoom(experiment)),
].map((room) => [room.experiment, room]));
