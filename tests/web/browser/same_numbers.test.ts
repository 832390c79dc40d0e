// The page and the command line are one registry: the files that the page saves are what the command prints.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { useBrowser, visit } from './session.ts';

useBrowser();

const command = process.env.LINEARMEM_COMMAND ?? resolve(import.meta.dirname, '../../../build/native/native/cli/linearmem');
const printed = (...words: string[]) => {
  try {
    return execFileSync(command, words, { encoding: 'utf8', maxBuffer: 1 << 26 });
  } catch (problem: any) {
    if (problem.status === 1) return problem.stdout as string; // a claim fell, as it should with a mistake
    throw problem;
  }
};

beforeAll(() => {
  if (!existsSync(command)) throw new Error(`${command} is missing: build the native preset or set LINEARMEM_COMMAND to the program`);
});

async function saved(page: any, button: object, part = 'body'): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator(part).getByRole('button', button).click()]);
  return readFileSync(await download.path(), 'utf8');
}

test.each([['as written', '', []], ['with mistakes', '?break=half-beta,no-forgetting', ['--mistake', 'half-beta', '--mistake', 'no-forgetting']]])(
  'every digit of the report is the command line\'s, %s', async (_, search, words) => {
    const { page } = await visit({ search });
    const here = JSON.parse(await saved(page, { name: 'Save the report (JSON)' }));
    const there = JSON.parse(printed('verify', '--json', ...words));
    expect(Object.keys(here)).toEqual(Object.keys(there));
    expect({ ...here, simd_target: '', claims: [] }).toEqual({ ...there, simd_target: '', claims: [] });
    const essence = ({ claims }: any) => claims.map(({ id, pass, statement, source, inputs, checks }: any) =>
      ({ id, pass, statement, source, inputs, checks: checks.map(({ quantity, digits, pass: holds }: any) => ({ quantity, digits, holds })) }));
    expect(essence(here)).toEqual(essence(there));
    expect(Object.keys(here.claims[0])).toEqual(Object.keys(there.claims[0]));
    expect(Object.keys(here.claims[0].checks[0])).toEqual(Object.keys(there.claims[0].checks[0]));
  });

test('the figure\'s CSV is the sweep\'s, to ten digits', async () => {
  const { page } = await visit({ until: 'drawn', search: '?memory-tradeoff.beta=0.4&memory-tradeoff.key_width=48' });
  const shown = await page.locator('#memory-tradeoff .figure-foot .command code').innerText();
  expect(shown).toBe('linearmem sweep memory-tradeoff --set beta=0.4 --set key_width=48 --csv');
  const rows = (csv: string) => csv.trimEnd().split('\n').map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/))
    .map((fields) => fields.map((field) => {
      const number = Number(field);
      return field === '' || Number.isNaN(number) ? field : Math.abs(number) < 1e-12 ? 0 : Number(number.toPrecision(10)); // below: rounding noise
    }));
  expect(rows(await saved(page, { name: 'CSV', exact: true }, '#memory-tradeoff'))).toEqual(rows(printed(...shown.split(' ').slice(1))));
});
