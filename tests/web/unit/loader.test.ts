// The loader with the real module, and each way in which a server or a browser can fail it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { moduleFolder } from '../../../web/prerender/wasm_modules.ts';
import { answer } from '../../../web/src/engine/calls.ts';
import { LoadFailure } from '../../../web/src/engine/failure.ts';
import { openInPage } from '../../../web/src/engine/in_page.ts';
import { type Build, type BuildName, builds, fetchModule, patience, preferredBuild, startModule } from '../../../web/src/engine/loader.ts';

const bytesOf = (name: BuildName) => readFileSync(join(moduleFolder(name), 'linearmem.wasm'));
let served: Record<string, () => Response | Promise<Response>>;

beforeEach(() => {
  served = Object.fromEntries((['simd', 'scalar'] as const).map((name) => [builds[name].address, () => new Response(bytesOf(name))]));
  vi.stubGlobal('fetch', async (address: string) => served[address]!());
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const failureOf = async (promise: Promise<unknown>) => {
  const problem = await promise.then(() => undefined, (reason: unknown) => reason);
  expect(problem).toBeInstanceOf(LoadFailure);
  return problem as LoadFailure;
};

test.each(['simd', 'scalar'] as const)('the %s build starts, answers its build id and verifies a claim', async (name) => {
  const fetched = await fetchModule(name === 'simd' ? 'auto' : 'off');
  expect(fetched.name).toBe(name);
  const module = await startModule(fetched);
  expect(module.buildId()).toBe(builds[name].buildId);
  expect(module.target()).toBe(name === 'simd' ? 'WASM' : 'SCALAR');
  const alone = { rest: () => Promise.resolve(), dropped: () => false, hear: () => undefined };
  expect((await answer(module, { name: 'verify', id: 'LM05', mistakes: [] }, alone)).result.pass).toBe(true);
});

test('the page\'s own thread answers in order and passes refusals on', async () => {
  const ask = await openInPage(await fetchModule('auto'));
  const results = await Promise.allSettled([
    ask({ name: 'verify', id: 'LM01', mistakes: [] }), ask({ name: 'verify', id: 'LM99', mistakes: [] }), ask({ name: 'about' }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a browser whose validator refuses SIMD gets the scalar build', async () => {
  const validate = WebAssembly.validate.bind(WebAssembly);
  vi.spyOn(WebAssembly, 'validate').mockImplementation((bytes) => bytes.byteLength > 100 && validate(bytes));
  expect(preferredBuild('auto')).toBe('scalar');
  expect((await fetchModule('auto')).name).toBe('scalar');
});

test('a SIMD build that does not validate gives way to the scalar one', async () => {
  served[builds.simd.address] = () => new Response(bytesOf('simd').subarray(0, 1000));
  expect((await fetchModule('auto')).name).toBe('scalar');
});

test('neither build validates', async () => {
  for (const name of ['simd', 'scalar'] as const) served[builds[name].address] = () => new Response(bytesOf(name).subarray(0, 1000));
  expect((await failureOf(fetchModule('auto'))).kind).toBe('unsupported');
});

test('a 404 names status and address', async () => {
  served[builds.simd.address] = () => new Response('gone', { status: 404 });
  expect(await failureOf(fetchModule('auto'))).toMatchObject({ kind: 'not-found', detail: { status: 404, address: builds.simd.address } });
});

test.each(['<!doctype html>', '', '\0as'])('%j is not a module', async (content) => {
  served[builds.simd.address] = () => new Response(content, { headers: { 'content-type': 'application/wasm' } });
  expect((await failureOf(fetchModule('auto'))).kind).toBe('wrong-content');
});

test('a server that cannot be reached', async () => {
  served[builds.simd.address] = () => Promise.reject(new TypeError('Failed to fetch'));
  expect((await failureOf(fetchModule('auto'))).kind).toBe('no-answer');
});

test('a server that falls silent is given up on after a while', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', (_: string, { signal }: { signal: AbortSignal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  }));
  const failure = failureOf(fetchModule('auto'));
  await vi.advanceTimersByTimeAsync(patience);
  expect((await failure).kind).toBe('no-answer');
});

test('a browser without WebAssembly', async () => {
  vi.stubGlobal('WebAssembly', undefined);
  expect((await failureOf(fetchModule('auto'))).kind).toBe('no-wasm');
});

test('a policy that forbids compiling', async () => {
  const fetched = await fetchModule('auto');
  vi.spyOn(WebAssembly, 'Module').mockImplementation(function refuse() { throw new WebAssembly.CompileError('blocked'); });
  expect((await failureOf(startModule(fetched))).kind).toBe('csp');
});

test('glue and module of different builds', async () => {
  const fetched = await fetchModule('auto');
  const table: Record<BuildName, Build> = { ...builds, simd: { ...builds.simd, buildId: 'another' } };
  const failure = await failureOf(startModule(fetched, table));
  expect(failure).toMatchObject({ kind: 'stale', detail: { expected: 'another', found: builds.simd.buildId } });
});

test('a module that does not start says why', async () => {
  const fetched = await fetchModule('auto');
  const table: Record<BuildName, Build> = { ...builds, simd: { ...builds.simd, createModule: () => Promise.reject(new Error('out of memory')) } };
  expect(await failureOf(startModule(fetched, table))).toMatchObject({ kind: 'start', detail: { reason: 'out of memory' } });
});
