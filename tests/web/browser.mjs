// Chromium for the tests and the screenshots: found at run time, started without anything that reaches for the network.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

export const webFolder = resolve(import.meta.dirname, '../../web');
export const siteFolder = resolve(webFolder, 'dist');
export const require = createRequire(resolve(webFolder, 'package.json'));
const { chromium } = require('playwright-core');

const flags = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

function executable() {
  const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = places.find((place) => place && existsSync(place));
  if (!found) throw new Error(`no Chromium at ${places.filter(Boolean).join(', ')}; set CHROMIUM to its path`);
  return found;
}

export function launch() {
  return chromium.launch({ executablePath: executable(), args: flags });
}

// A page whose console errors, uncaught errors and policy violations are kept in `complaints`.
export async function openPage(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...options });
  context.setDefaultTimeout(60_000); // a busy machine is slow, not wrong
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) complaints.push(message.text()); });
  page.on('pageerror', (problem) => complaints.push(String(problem)));
  await options.prepare?.(page);
  await page.goto(address);
  return { page, complaints, close: () => context.close() };
}

export async function settled(page) {
  await page.waitForFunction(() => ['pass', 'fail', 'stopped'].includes(document.querySelector('.status')?.dataset.state ?? ''));
}

// Claims are computed when they come near; this has all of them computed.
export async function allComputed(page) {
  await page.locator('.run-all:not(:disabled)').click();
  await page.waitForFunction(() => [...document.querySelectorAll('[data-claim]')].every(({ dataset }) => ['pass', 'fail', 'stopped'].includes(dataset.state)));
  await settled(page);
}

// A figure is computed when it comes near.
export async function drawn(page, figure = 'memory-tradeoff') {
  await settled(page);
  const host = page.locator(`[data-figure="${figure}"]`);
  await host.scrollIntoViewIfNeeded();
  await host.locator('svg[role="img"]').first().waitFor();
  await page.waitForFunction((name) => document.querySelector(`[data-figure="${name}"] .figure-status`)?.textContent === '', figure);
}

// Figures are computed when they come near: each is brought into sight and waited for, but for those that a button starts.
export async function everyFigureDrawn(page) {
  await settled(page);
  for (const figure of await page.$$('[data-figure]')) {
    await figure.scrollIntoViewIfNeeded();
    await page.waitForFunction((host) => host.querySelector('button.start') || host.querySelector('.panels svg') && host.querySelector('.figure-status')?.textContent === '', figure);
  }
}
