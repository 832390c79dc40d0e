// One browser for a test file, a server and a page for each test.
import { afterAll, afterEach, beforeAll } from 'vitest';
import { serve } from '../../../web/tools/serve.mjs';
import { allComputed, drawn, launch, openPage, settled, siteFolder } from '../browser.mjs';

export { allComputed, drawn, settled, siteFolder };

type Planted = { status?: number; headers?: Record<string, string>; body?: string | Buffer } | undefined;

interface Visit {
  search?: string;
  base?: string;
  answer?: (path: string) => Planted;
  browser?: Record<string, unknown>; // playwright's context options
  prepare?: (page: any) => Promise<void>;
  until?: 'settled' | 'drawn' | 'computed' | 'loaded'; // settled: the first claims are there; computed: all of them
}

const open: { close(): Promise<void> }[] = [];
let browser: any;

export function useBrowser(): void {
  beforeAll(async () => { browser = await launch(); });
  afterAll(async () => { await browser.close(); });
  afterEach(async () => { for (const one of open.splice(0).reverse()) await one.close(); });
}

export async function visit({ search = '', base, answer, browser: options, prepare, until = 'settled' }: Visit = {}) {
  const site = await serve({ folder: siteFolder, base, answer });
  open.push(site);
  const visited = await openPage(browser, site.address + search, { reducedMotion: 'reduce', ...options, prepare });
  open.push(visited);
  if (until === 'settled') await settled(visited.page);
  if (until === 'drawn') await drawn(visited.page);
  if (until === 'computed') {
    await settled(visited.page);
    await allComputed(visited.page);
  }
  return { ...visited, site };
}

// A site that is not ours.
export async function visitFolder(folder: string, { base }: Pick<Visit, 'base'> = {}) {
  const site = await serve({ folder, base });
  open.push(site);
  const visited = await openPage(browser, site.address);
  open.push(visited);
  return { ...visited, site };
}

export async function openFile(address: string) {
  const visited = await openPage(browser, address);
  open.push(visited);
  return visited;
}

export const textOf = (page: any, selector: string): Promise<string> => page.locator(selector).first().innerText();

export const states = (page: any): Promise<Record<string, string>> => page.evaluate(() =>
  Object.fromEntries([...document.querySelectorAll<HTMLElement>('[data-claim]')].map((row) => [row.dataset.claim, row.dataset.state])));

export const isWasm = (path: string) => path.endsWith('.wasm');
