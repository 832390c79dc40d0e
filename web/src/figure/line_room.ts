// A room whose panels are charts of lines and points, or pictures: everything but the experiment's name comes from its data and texts.
import type { Figure, Panel, Series } from 'linearmem';
import { fill, type Texts } from '../texts/languages.ts';
import { bytes, short } from '../texts/numbers.ts';
import { chart, type PanelWords } from './chart.ts';
import { dataTable } from './data_table.ts';
import { heatmaps, type MatrixNotes } from './heatmaps.ts';
import { cellNumber, matrixTable } from './matrix_numbers.ts';
import { pictures } from './pictures.ts';
import type { KnobWords } from './knobs.ts';
import type { DrawContext, DrawnPanel, Room } from './room.ts';

const narrow = 780; // px: below it the panels stand one under the other, since names at the lines' ends take a third of each
const gap = 32;
const fewNumbers = 12;

type Name = keyof Texts['figures']['experiments'];

export interface LineRoomOptions {
  open?(series: Series): boolean; // a second line of the same memory
  plane?: string; // the panel that shows places in a plane
  label?(series: Series, texts: Texts): string | undefined; // names that are made, not listed
  editor?: Room['editor'];
  byHand?: boolean;
  matrix?(figure: Figure, panel: Panel, series: Series): MatrixNotes; // pictures are matrices of numbers
}

export function lineRoom(experiment: Name, { open = () => false, plane, label: made, editor, byHand, matrix }: LineRoomOptions = {}): Room {
  const words = (texts: Texts) => texts.figures.experiments[experiment];

  function labelOf(series: Series, texts: Texts): string {
    const { memory, label } = series;
    return (words(texts).series as Record<string, string>)[`${memory}/${label}`] ?? made?.(series, texts) ?? label;
  }

  function wordsFor(panel: Panel, texts: Texts): PanelWords {
    const { title, x, y } = (words(texts).panels as Record<string, { title: string; x: string; y: string }>)[panel.name]!;
    const units = texts.figures.units as Record<string, string>;
    const withUnit = (name: string, unit: string) => (unit && unit !== 'bytes' ? fill(texts.figures.withUnit, { name, unit: units[unit] ?? unit }) : name);
    return {
      title, x: withUnit(x, panel.x.unit), y: withUnit(y, panel.y.unit), open, plane: ({ name }) => name === plane,
      label: (series) => labelOf(series, texts),
      band: (label) => (texts.figures.bands as Record<string, string>)[label] ?? label,
    };
  }

  // Of a matrix with few numbers they are said.
  function picture(series: Series, texts: Texts): string {
    const memory = labelOf(series, texts);
    if (!matrix || series.y.length > fewNumbers) return memory;
    return fill(texts.figures.reading.item, { memory, amount: [...series.y].map(cellNumber).join(' ') });
  }

  function describe(panel: Panel, texts: Texts): string {
    const { description, pictured, item, between } = texts.figures.reading;
    const amount = (value: number) => (panel.y.unit === 'bytes' ? bytes(value) : short(value));
    const { title, x } = wordsFor(panel, texts);
    const names = panel.series.filter((series) => series.x.length > 0);
    if (names.length === 0) return wordsFor(panel, texts).title;
    if (panel.columns > 0) return fill(pictured, { title, items: names.map((series) => picture(series, texts)).join(between) });
    const items = names.map((series) => fill(item, { memory: labelOf(series, texts), amount: amount(series.y.at(-1)!) }));
    return fill(description, { title, x, value: short(names[0]!.x.at(-1)!), items: items.join(between) });
  }

  function draw(figure: Figure, { texts, width }: DrawContext): DrawnPanel[] {
    const charts = figure.panels.filter(({ columns }) => columns === 0).length;
    const each = width < narrow || charts < 2 ? Math.min(width, 720) : (width - gap) / 2;
    const known = figure.panels.filter((panel) => panel.series.some((series) => series.x.length > 0)); // of a figure under way
    return known.map((panel) => ({
      svg: panel.columns === 0 ? chart(panel, wordsFor(panel, texts), each)
        : matrix ? heatmaps(panel, wordsFor(panel, texts), width, (_, series) => matrix(figure, panel, series)) : pictures(panel, wordsFor(panel, texts), width),
      description: describe(panel, texts),
    }));
  }

  return {
    experiment,
    compute: (engine, settings, hearing) => engine.experiment(experiment, settings, hearing),
    draw,
    tables: (figure, texts) => figure.panels.flatMap((panel) => {
      const { title, x, label } = wordsFor(panel, texts);
      if (!matrix || panel.columns === 0) return dataTable(panel, title, x, label);
      const { row, column } = texts.figures.matrix;
      const words = { row: (number: number) => fill(row, { number }), column: (number: number) => fill(column, { number }) };
      return panel.series.map((series) => matrixTable(series, panel, fill(texts.figures.matrix.title, { title, label: label(series) }), words));
    }),
    knobWords: (spec, texts) => {
      const known = words(texts).knobs as Record<string, KnobWords>;
      return known[spec.name] ?? { symbol: spec.name, meaning: spec.meaning };
    },
    notShown: (_info, texts) => words(texts).notShown,
    editor,
    byHand,
  };
}
