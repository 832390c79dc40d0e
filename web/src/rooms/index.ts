// The figures by the module's experiment names; each is fetched when it is first shown.
import type { Room } from '../figure/room.ts';

export const rooms: Record<string, () => Promise<Room>> = {
  'memory-tradeoff': async () => (await import('./memory_tradeoff.ts')).room,
};
