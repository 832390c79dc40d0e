// The page: opens the module, runs the claims and mounts the figures that the reader comes to, and keeps state and address in step.
import { BreakIt } from '../claims/break_it.ts';
import { report } from '../claims/report.ts';
import { ClaimsRun } from '../claims/run.ts';
import { ClaimsTable } from '../claims/table.ts';
import { download } from '../dom/download.ts';
import { find } from '../dom/element.ts';
import { type Engine, openEngine } from '../engine/engine.ts';
import { asLoadFailure } from '../engine/failure.ts';
import { type Language, languageTags, loadTexts, type Texts } from '../texts/languages.ts';
import { type Known, type PageState, readAddress, writeAddress } from './address.ts';
import { Chapters } from './chapters.ts';
import { followContents } from './contents.ts';
import { PageFigures } from './figures.ts';
import { whenNear } from './near.ts';
import { printWithFigures } from './print.ts';
import { StatusPanel } from './status.ts';

export async function startPage(): Promise<void> {
  const state = readAddress(location.search);
  const browserLanguage = document.documentElement.dataset.browserLanguage === 'zh' ? 'zh' : 'en';
  const opening = openEngine(state.simd);
  opening.catch(() => undefined); // told below, once there are words for it
  const page = new Page(state, browserLanguage, await loadTexts(state.language ?? browserLanguage));
  try {
    await page.open(await opening);
  } catch (problem) {
    page.status.fail(asLoadFailure(problem));
    layOutAll();
  }
}

function enable(selector: string, act: () => void): void {
  const button = find<HTMLButtonElement>(document, selector);
  button.disabled = false;
  button.addEventListener('click', act);
}

// A page that was opened as a file may not be allowed an address of its own.
function remember(address: string): void {
  try {
    history.pushState(null, '', address);
  } catch (problem) {
    if (!(problem instanceof DOMException && problem.name === 'SecurityError')) throw problem;
  }
}

// Until the first answer is there, what is out of sight is not laid out (course.css); first_paint.js begins it.
function layOutAll(): void {
  delete document.documentElement.dataset.opening;
}

const nextTask = () => new Promise((resume) => setTimeout(resume));

interface Speaker {
  speak(texts: Texts): void;
}

class Page {
  readonly status: StatusPanel;
  private readonly speakers: Speaker[] = [];
  private figures?: PageFigures;
  private known: Known = { mistakes: [], experiments: [] };
  private run?: ClaimsRun;

  constructor(private state: PageState, private readonly browserLanguage: Language, private texts: Texts) {
    this.status = new StatusPanel(find(document, '.status'), texts);
    this.speakers.push(this.status);
    this.showLanguage();
    followContents(find(document, '.contents'));
    for (const link of document.querySelectorAll<HTMLElement>('[data-language]')) {
      link.addEventListener('click', (event) => {
        event.preventDefault();
        void this.changeLanguage(link.dataset.language as Language);
      });
    }
    addEventListener('popstate', () => void this.follow());
  }

  async open(engine: Engine): Promise<void> {
    const { about } = engine;
    this.known = { mistakes: about.mistakes, experiments: [...about.experiments, ...about.timings] };
    this.state = readAddress(location.search, this.known);
    const run = new ClaimsRun(engine);
    this.run = run;
    const grounds = [...document.querySelectorAll<HTMLElement>('.grounds')].map((place) =>
      ({ place, ids: [...place.querySelectorAll<HTMLElement>('[data-ground]')].map((row) => row.dataset.ground!) }));
    void run.switchTo(this.state.mistakes);
    void run.runNew(grounds[0]?.ids).then(() => requestAnimationFrame(() => setTimeout(layOutAll))); // the page's first answer, wherever the reader is
    await nextTask(); // the question is on its way while the page is made ready for its answer
    this.status.follow(run, engine);
    const breakIt = new BreakIt(find(document, '.break'), run, this.texts, (mistakes) => this.change({ mistakes }));
    const table = new ClaimsTable(find(document, '.claims tbody'), run, this.texts, {
      runAgain: (id) => void run.run([id]),
      mistakeLabel: (name) => breakIt.label(name),
    });
    const chapters = new Chapters(run, this.texts, {
      onSwitch: (mistakes) => this.change({ mistakes }),
      onTry: (search, figure) => this.tryOut(search, figure),
    });
    this.speakers.push(breakIt, table, chapters);
    enable('.run-all', () => void run.run());
    enable('.save-report', () => void this.saveReport(run, about));
    whenNear(grounds.map(({ place }) => place), (place) => void run.runNew(grounds.find((one) => one.place === place)!.ids));
    whenNear(document.querySelectorAll<HTMLElement>('[data-claim]'), (row) => void run.runNew([row.dataset.claim!]));
    this.figures = new PageFigures(engine, {
      texts: () => this.texts,
      state: () => this.state,
      change: (name, settings, settled) => this.change({ figures: { ...this.state.figures, [name]: settings } }, settled),
    });
    this.speakers.push(this.figures);
    printWithFigures(this.figures);
  }

  // What the reader has not come to is computed for the report.
  private async saveReport(run: ClaimsRun, about: Engine['about']): Promise<void> {
    await run.runNew();
    download(new Blob([await report(run, about)], { type: 'application/json' }), 'verify.json');
  }

  // A settled change is a step that the back button undoes; a slider on its way is not in the address yet.
  private change(change: Partial<PageState>, settled = true): void {
    this.state = { ...this.state, ...change };
    if (settled) remember(`${location.pathname}${writeAddress(this.state)}${location.hash}`);
    if (change.mistakes) void this.run?.switchTo(change.mistakes);
  }

  // A link of the text sets the settings of one figure and leaves all else.
  private tryOut(search: string, figure: string): void {
    const settings = readAddress(search, this.known).figures[figure] ?? {};
    this.change({ figures: { ...this.state.figures, [figure]: settings } });
    this.figures?.set(figure, settings);
    document.getElementById(figure)?.scrollIntoView({ block: 'start' });
  }

  private async changeLanguage(language: Language): Promise<void> {
    this.change({ language: language === this.browserLanguage ? undefined : language });
    await this.speak();
  }

  private async follow(): Promise<void> {
    this.state = readAddress(location.search, this.known);
    void this.run?.switchTo(this.state.mistakes);
    this.figures?.follow();
    await this.speak();
  }

  private async speak(): Promise<void> {
    const language = this.state.language ?? this.browserLanguage;
    if (language === this.texts.language) return;
    this.texts = await loadTexts(language);
    this.showLanguage();
    for (const speaker of this.speakers) speaker.speak(this.texts);
  }

  private showLanguage(): void {
    const { language } = this.texts;
    const root = document.documentElement;
    if (root.lang !== languageTags[language]) root.lang = languageTags[language]; // set again, it would have the whole page styled again
    document.title = this.texts.say('site.title');
    find(document, '.languages').setAttribute('aria-label', this.texts.say('site.language'));
    for (const link of document.querySelectorAll<HTMLElement>('[data-language]')) {
      if (link.dataset.language === language) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  }
}
