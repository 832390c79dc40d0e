// The figure of the kNN memory: records and query in the plane, what the neighbours weigh, the distribution before and after.
import { lineRoom } from '../figure/line_room.ts';

export const room = lineRoom('knn-neighbours', { plane: 'plane' });
