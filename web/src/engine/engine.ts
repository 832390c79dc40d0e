// The module as the page sees it: asynchronous, in a worker where there can be one, otherwise in the page. Its parts are fetched
// when something in them is first asked for.
import type { ExperimentInfo, Figure, Ledger, LedgerModel, MistakeInfo } from 'linearmem';
import { catalogue } from 'virtual:linearmem/catalogue';
import type { ClaimEntry } from '../../prerender/wasm_modules.ts';
import type { About, Answer, Call, Simd, TimedResult } from './calls.ts';
import { LoadFailure } from './failure.ts';
import { Thread } from './thread.ts';

// For answers that take time: what is known so far, and a way to say that nobody waits any more (the answer then is an error).
export interface Hearing {
  hear?(figure: Figure, progress: number): void;
  signal?: AbortSignal;
}

// Where modules run. A call names the module it is for, which must be open.
export interface Place {
  open(part: string, simd: Simd): Promise<string>; // the name of what was opened: the part's, or 'scalar'
  ask<C extends Call>(to: string, call: C, hearing?: Hearing): Promise<Answer<C>>;
}

export interface EngineAbout extends About {
  claims: ClaimEntry[];
  mistakes: MistakeInfo[];
  experiments: ExperimentInfo[];
  timings: ExperimentInfo[]; // figures of this machine's times
  ledgerModels: LedgerModel[];
}

export interface Engine {
  readonly about: EngineAbout;
  readonly place: 'worker' | 'page';
  verify(id: string, mistakes: string[]): Promise<TimedResult>;
  experiment(name: string, settings: Record<string, number>, hearing?: Hearing): Promise<Figure>;
  // Of the text of a config.json, which the answer calls `model`; of the named model where `config` is empty.
  ledger(model: string, config: string, settings: Record<string, number>): Promise<Ledger>;
}

// `first` is what will be asked for first, a claim or a figure: its part is open when the engine is.
export async function openEngine(simd: Simd, first = catalogue.claims[0]!.id): Promise<Engine> {
  if (typeof WebAssembly !== 'object') throw new LoadFailure('no-wasm');
  const thread = Thread.start();
  try {
    const opened = thread && await openIn(thread, partOf(first), simd);
    if (opened) return await engineOf(thread, 'worker', opened);
    thread?.end();
    const place = (await import('./in_page.ts')).placeInPage();
    return await engineOf(place, 'page', await place.open(partOf(first), simd));
  } catch (problem) {
    thread?.end();
    throw problem;
  }
}

// Nothing where the worker does not come up. A worker obeys the policy its own script was served with, so a refusal there says
// nothing about the page either.
async function openIn(thread: Thread, part: string, simd: Simd): Promise<string | undefined> {
  try {
    return await thread.open(part, simd);
  } catch (problem) {
    if (problem instanceof LoadFailure && problem.kind !== 'csp' && problem.kind !== 'stopped') throw problem;
    return undefined;
  }
}

function partOf(name: string): string {
  const part = catalogue.partOf[name];
  if (!part) throw new Error(`no part of the module has ${name}`);
  return part;
}

async function engineOf(place: Place, where: Engine['place'], first: string): Promise<Engine> {
  const opened = new Map<string, Promise<string>>([[first, Promise.resolve(first)]]);

  function open(part: string): Promise<string> {
    const known = opened.get('scalar') ?? opened.get(part);
    if (known) return known;
    const opening = place.open(part, 'auto');
    opened.set(part, opening);
    opening.catch(() => opened.delete(part)); // asked again, it is fetched again
    return opening;
  }

  const { buildId, target } = await place.ask(first, { name: 'about' });
  return {
    about: { buildId, target, ...catalogue },
    place: where,
    verify: async (id, mistakes) => place.ask(await open(partOf(id)), { name: 'verify', id, mistakes }),
    experiment: async (experiment, settings, hearing) =>
      place.ask(await open(partOf(experiment)), { name: 'experiment', experiment, settings }, hearing),
    ledger: async (model, config, settings) => place.ask(await open(partOf('ledger')), { name: 'ledger', model, config, settings }),
  };
}
