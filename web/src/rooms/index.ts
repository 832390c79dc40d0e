// The figures by the module's experiment names; each is fetched when it is first shown.
import type { Room } from '../figure/room.ts';

const associative = (name: string) => async () => (await import('./associative_memory.ts')).rooms[name]!;
const matrices = (name: string) => async () => (await import('./matrices.ts')).rooms[name]!;
const recall = (name: string) => async () => (await import('./recall.ts')).rooms[name]!;

export const rooms: Record<string, () => Promise<Room>> = {
  'knn-neighbours': async () => (await import('./knn_memory.ts')).room,
  'memory-tradeoff': async () => (await import('./memory_tradeoff.ts')).room,
  ledger: async () => (await import('./ledger.ts')).makeLedger(),
  'wall-clock': async () => (await import('./wall_clock.ts')).room,
  ...Object.fromEntries([
    'picture-readback', 'interference-growth', 'least-squares', 'responses', 'truncated-exponentials', 'softmax-weights', 'logn-sharpening',
    'noisy-query', 'hopfield',
  ].map((name) => [name, associative(name)])),
  ...Object.fromEntries(['softmax-kernel', 'recurrent-state', 'correction', 'scan-matrix', 'segment-rows', 'layer-opened'].map((name) => [name, matrices(name)])),
  ...Object.fromEntries([
    'recall-bytes', 'recall-shape', 'recall-distance', 'recall-conflict', 'state-precision', 'hybrid-ablation', 'depth-rounds', 'reset-leak',
  ].map((name) => [name, recall(name)])),
};
