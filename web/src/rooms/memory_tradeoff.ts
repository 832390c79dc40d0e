// Storage against prefix length, and the error of reading two keys against their inner product. A memory that reads the two
// keys differently has two lines there; the second key's has open markers.
import type { Figure, Panel, Series } from 'linearmem';
import { dataTable } from '../figure/data_table.ts';
import { chart, type PanelWords } from '../figure/chart.ts';
import type { DrawContext, DrawnPanel, Room } from '../figure/room.ts';
import { fill, type Texts } from '../texts/languages.ts';
import { bytes, short } from '../texts/numbers.ts';

const narrow = 620; // px: below it the panels stand one under the other
const gap = 32;

function wordsFor(panel: Panel, texts: Texts): PanelWords {
  const { panels } = texts.figures.experiments['memory-tradeoff'];
  const words = panels[panel.name as keyof typeof panels];
  const units = texts.figures.units as Record<string, string>;
  const withUnit = (name: string, unit: string) => (unit && unit !== 'bytes' ? `${name} (${units[unit] ?? unit})` : name);
  return {
    title: words.title,
    x: withUnit(words.x, panel.x.unit),
    y: withUnit(words.y, panel.y.unit),
    label: (series) => labelOf(series, texts),
    open: (series) => series.label === 'new key',
  };
}

function labelOf({ memory, label }: Series, texts: Texts): string {
  const words = texts.figures.experiments['memory-tradeoff'].series as Record<string, string>;
  return words[`${memory}/${label}`] ?? label;
}

function describe(panel: Panel, texts: Texts): string {
  const words = texts.figures.experiments['memory-tradeoff'];
  const amount = (value: number) => (panel.y.unit === 'bytes' ? bytes(value) : short(value));
  const items = panel.series.map((series) => fill(words.item, { memory: labelOf(series, texts), amount: amount(series.y.at(-1)!) }));
  const { title, x } = wordsFor(panel, texts);
  return fill(words.description, { title, x, value: short(panel.series[0]!.x.at(-1)!), items: items.join(words.between) });
}

function draw(figure: Figure, { texts, width }: DrawContext): DrawnPanel[] {
  const each = width < narrow ? width : (width - gap) / 2;
  return figure.panels.map((panel) => ({ svg: chart(panel, wordsFor(panel, texts), each), description: describe(panel, texts) }));
}

export const room: Room = {
  experiment: 'memory-tradeoff',
  compute: (engine, settings) => engine.experiment('memory-tradeoff', settings),
  draw,
  tables: (figure, texts) => figure.panels.map((panel) => {
    const words = wordsFor(panel, texts);
    return dataTable(panel, words.title, words.x, words.label);
  }),
  knobWords: (spec, texts) => {
    const known = texts.figures.experiments['memory-tradeoff'].knobs as Record<string, { symbol: string; meaning: string }>;
    return known[spec.name] ?? { symbol: spec.name, meaning: spec.meaning };
  },
  notShown: (_info, texts) => texts.figures.experiments['memory-tradeoff'].notShown,
};
