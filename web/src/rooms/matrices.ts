// The figures that show matrices number by number: weights, one token's step, a correction, a layer, a scan, the reach of segments.
import type { Figure, Panel, Series } from 'linearmem';
import type { MatrixNotes } from '../figure/heatmaps.ts';
import { lineRoom } from '../figure/line_room.ts';
import type { Room } from '../figure/room.ts';
import { stepper } from '../figure/stepper.ts';
import { fill } from '../texts/languages.ts';

const plain = (): MatrixNotes => ({});

function numbersOf(figure: Figure, panel: string, label: string): number[] {
  return [...figure.panels.find(({ name }) => name === panel)!.series.find((series) => series.label === label)!.y];
}

// Signs by the matrix's name: before + written = after.
const signs = (of: Record<string, string>) => (_figure: Figure, panel: Panel, { label }: Series): MatrixNotes => ({ sign: of[`${panel.name}/${label}`] });

function step(figure: Figure, panel: Panel, series: Series): MatrixNotes {
  const sign = { written: '+', after: '=', weight: '÷', output: '=' }[series.label];
  if (series.label === 'value') return { hidden: true }; // it stands above what is written
  if (panel.name === 'write' && series.label === 'written') {
    return { sign, lit: {}, left: numbersOf(figure, 'count', 'written'), top: numbersOf(figure, 'write', 'value') };
  }
  if (panel.name === 'count' && series.label === 'written') return { sign, lit: {} };
  if (panel.name === 'outputs') return { lit: { row: figure.panels.find(({ name }) => name === 'outputs')!.series[0]!.y.length / panel.columns - 1 } };
  return { sign };
}

const rule = signs({ 'state/decayed': '→', 'state/written': '+', 'state/after': '=', 'error/predicted': '−', 'error/error': '=', 'outputs/kernel': '−', 'outputs/difference': '=' });

// The newest token's row; the state has no rows of tokens.
function newest(_figure: Figure, panel: Panel, { label, y }: Series): MatrixNotes {
  if (panel.name === 'state') return { sign: label === 'after' ? '→' : undefined };
  return { sign: label === 'gated' ? '→' : undefined, lit: { row: y.length / panel.columns - 1 } };
}

function corrected(figure: Figure, panel: Panel, series: Series): MatrixNotes {
  const notes = rule(figure, panel, series);
  return panel.name === 'state' && series.label === 'written' ? { ...notes, lit: {} } : notes;
}

export const rooms: Record<string, Room> = Object.fromEntries([
  lineRoom('softmax-kernel', { matrix: rule }),
  lineRoom('recurrent-state', {
    matrix: step,
    editor: {
      settings: ['token'],
      make: (defaults, texts, change) => stepper({ ...texts.figures.stepper, fill }, { setting: 'token', first: 1, last: 8, initial: defaults.token! }, change),
    },
  }),
  lineRoom('correction', { matrix: corrected, open: ({ label }) => label === 'second key' }),
  lineRoom('layer-opened', {
    matrix: newest,
    editor: {
      settings: ['token'],
      make: (defaults, texts, change) => stepper({ ...texts.figures.stepper, fill }, { setting: 'token', first: 1, last: 8, initial: defaults.token! }, change),
    },
  }),
  lineRoom('scan-matrix', { matrix: plain }),
  lineRoom('segment-rows', { matrix: plain }),
].map((room) => [room.experiment, room]));
