// Storage against text length, and the error of reading two keys against their inner product. A memory that reads the two
// keys differently has two lines there; the second key's has open markers.
import { lineRoom } from '../figure/line_room.ts';

export const room = lineRoom('memory-tradeoff', { open: (series) => series.label === 'new key' });
