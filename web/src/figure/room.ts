// What a figure of the page is made of. A room computes with the module and draws what came back; it does no mathematics.
import type { ExperimentInfo, Figure, SettingSpec } from 'linearmem';
import type { Engine, Hearing } from '../engine/engine.ts';
import type { Texts } from '../texts/languages.ts';
import type { KnobWords } from './knobs.ts';
import type { Editor } from './picture_editor.ts';

export type Settings = Record<string, number>;

export interface DrawContext {
  texts: Texts;
  width: number; // CSS pixels for the whole figure
}

export interface DrawnPanel {
  svg: SVGSVGElement;
  description: string; // one sentence for those who do not see it
}

export interface Room {
  experiment: string;
  byHand?: boolean; // it takes the machine for a while: started by a button, in an engine of its own, and stopped by it
  compute(engine: Engine, settings: Settings, hearing: Hearing): Promise<Figure>;
  draw(figure: Figure, context: DrawContext): DrawnPanel[];
  tables(figure: Figure, texts: Texts): HTMLElement[];
  knobWords(spec: SettingSpec, texts: Texts): KnobWords;
  notShown(info: ExperimentInfo, texts: Texts): string;
  // A control of its own for some of the settings, which then have no knobs.
  editor?: {
    settings: readonly string[];
    // change: the settings that differ now; settled is false for what the address does not keep.
    make(defaults: Settings, texts: Texts, change: (settings: Settings, settled?: boolean) => void, engine: Engine): Editor;
  };
  summary?(figure: Figure, settings: Settings, texts: Texts): HTMLElement[]; // in sight under the knobs
  command?(settings: Settings, engine: Engine): string; // what repeats the figure, where it is not a sweep
}
