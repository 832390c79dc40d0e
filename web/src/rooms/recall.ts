// The figures of what a fixed state can hold: recall, drift, hybrids, depth, and a forgotten reset.
import { lineRoom } from '../figure/line_room.ts';
import type { Room } from '../figure/room.ts';

export const rooms: Record<string, Room> = Object.fromEntries(
  ([
    'recall-bytes', 'recall-shape', 'recall-distance', 'recall-conflict', 'state-precision', 'hybrid-ablation', 'depth-rounds', 'reset-leak',
  ] as const).map((experiment) => lineRoom(experiment)).map((room) => [room.experiment, room]));
