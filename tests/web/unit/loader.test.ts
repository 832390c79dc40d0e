// The loader with the real module, and each way in which a server or a browser can fail it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { catalogue } from 'virtual:linearmem/catalogue';
import { moduleFiles, moduleFolder, parts } from '../../../web/prerender/wasm_modules.ts';
import { answer } from '../../../web/src/engine/calls.ts';
import { LoadFailure } from '../../../web/src/engine/failure.ts';
import { placeInPage } from '../../../web/src/engine/in_page.ts';
import { builds, fetchModule, readsSimd, startModule } from '../../../web/src/engine/loader.ts';
import { patience } from '../../../web/src/engine/patience.ts';
import { type Scope, serveCalls } from '../../../web/src/engine/serve.ts';

const first = catalogue.partOf['LM01']!;
const simd = builds[first]!;
const bytesOf = (name: string) => {
  const { build, file } = moduleFiles()[name]!;
  return readFileSync(join(moduleFolder(build), `${file}.wasm`));
};
let served: Record<string, () => Response | Promise<Response>>;

beforeEach(() => {
  served = Object.fromEntries(Object.entries(builds).map(([name, { address }]) => [address, () => new Response(bytesOf(name))]));
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

test.each([...parts, 'scalar'])('%s starts, answers its build id, and verifies its first claim if it has one', async (name) => {
  const fetched = await fetchModule(name === 'scalar' ? first : name, name === 'scalar' ? 'off' : 'auto');
  expect(fetched.name).toBe(name);
  const module = await startModule(fetched);
  expect(module.buildId()).toBe(builds[name]!.buildId);
  expect(module.target()).toBe(name === 'scalar' ? 'SCALAR' : 'WASM');
  const alone = { rest: () => Promise.resolve(), dropped: () => false, hear: () => undefined };
  for (const { id } of module.claims().slice(0, 1)) {
    expect((await answer(module, { name: 'verify', id, mistakes: [] }, alone)).result.pass).toBe(true);
  }
});

test('the page\'s own thread answers in order and passes refusals on', async () => {
  const place = placeInPage();
  expect(await place.open(first, 'auto')).toBe(first);
  const results = await Promise.allSettled([
    place.ask(first, { name: 'verify', id: 'LM01', mistakes: [] }), place.ask(first, { name: 'verify', id: 'LM99', mistakes: [] }),
    place.ask(first, { name: 'about' }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a browser whose validator refuses SIMD gets the scalar build', async () => {
  const validate = WebAssembly.validate.bind(WebAssembly);
  vi.spyOn(WebAssembly, 'validate').mockImplementation((bytes) => bytes.byteLength > 100 && validate(bytes));
  expect(readsSimd('auto')).toBe(false);
  expect((await fetchModule(first, 'auto')).name).toBe('scalar');
});

test('a SIMD build that does not validate gives way to the scalar one', async () => {
  served[simd.address] = () => new Response(bytesOf(first).subarray(0, 1000));
  expect((await fetchModule(first, 'auto')).name).toBe('scalar');
});

test('neither build validates', async () => {
  for (const name of [first, 'scalar']) served[builds[name]!.address] = () => new Response(bytesOf(name).subarray(0, 1000));
  expect((await failureOf(fetchModule(first, 'auto'))).kind).toBe('unsupported');
});

test('a 404 names status and address', async () => {
  served[simd.address] = () => new Response('gone', { status: 404 });
  expect(await failureOf(fetchModule(first, 'auto'))).toMatchObject({ kind: 'not-found', detail: { status: 404, address: simd.address } });
});

test.each(['<!doctype html>', '', '\0as'])('%j is not a module', async (content) => {
  served[simd.address] = () => new Response(content, { headers: { 'content-type': 'application/wasm' } });
  expect((await failureOf(fetchModule(first, 'auto'))).kind).toBe('wrong-content');
});

test('a server that cannot be reached', async () => {
  served[simd.address] = () => Promise.reject(new TypeError('Failed to fetch'));
  expect((await failureOf(fetchModule(first, 'auto'))).kind).toBe('no-answer');
});

test('a server that falls silent is given up on after a while', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', (_: string, { signal }: { signal: AbortSignal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  }));
  const failure = failureOf(fetchModule(first, 'auto'));
  await vi.advanceTimersByTimeAsync(patience);
  expect((await failure).kind).toBe('no-answer');
});

test('a browser without WebAssembly', async () => {
  vi.stubGlobal('WebAssembly', undefined);
  expect((await failureOf(fetchModule(first, 'auto'))).kind).toBe('no-wasm');
});

test('a policy that forbids compiling', async () => {
  const fetched = await fetchModule(first, 'auto');
  vi.spyOn(WebAssembly, 'Module').mockImplementation(function refuse() { throw new WebAssembly.CompileError('blocked'); });
  expect((await failureOf(startModule(fetched))).kind).toBe('csp');
});

test('glue and module of different builds', async () => {
  const fetched = await fetchModule(first, 'auto');
  const table = { ...builds, [first]: { ...simd, buildId: 'another' } };
  const failure = await failureOf(startModule(fetched, table));
  expect(failure).toMatchObject({ kind: 'stale', detail: { expected: 'another', found: simd.buildId } });
});

test('a module that does not start says why', async () => {
  const fetched = await fetchModule(first, 'auto');
  const table = { ...builds, [first]: { ...simd, createModule: () => Promise.reject(new Error('out of memory')) } };
  expect(await failureOf(startModule(fetched, table))).toMatchObject({ kind: 'start', detail: { reason: 'out of memory' } });
});

// The worker's side without a worker: what is posted to it, and what it posts.
function worker(early?: Parameters<typeof serveCalls>[1]) {
  const waiting = new Map<number, (message: any) => void>();
  const scope: Scope = { onmessage: null, postMessage: (message: any) => waiting.get(message.number)?.(message) };
  serveCalls(scope, early);
  let number = 0;
  return (message: object) => new Promise<any>((resolve) => {
    number += 1;
    waiting.set(number, resolve);
    scope.onmessage!({ data: { ...message, number } } as MessageEvent);
  });
}

test('a worker fetches its first module unasked, once, and answers short questions while a figure is sampled', async () => {
  let fetches = 0;
  const part = catalogue.partOf['recall-bytes']!;
  served[builds[part]!.address] = () => { fetches += 1; return new Response(bytesOf(part)); };
  const ask = worker({ part, simd: 'auto' });
  expect(fetches).toBe(1);
  expect((await ask({ greet: true })).value).toBeUndefined();
  expect((await ask({ open: part, simd: 'auto' })).value).toBe(part);
  expect(fetches).toBe(1);
  const order: string[] = [];
  const figure = ask({ to: part, call: { name: 'experiment', experiment: 'recall-bytes', settings: {} } }).then(() => order.push('figure'));
  const id = catalogue.claims.find((claim) => catalogue.partOf[claim.id] === part)!.id;
  const claim = ask({ to: part, call: { name: 'verify', id, mistakes: [] } }).then(({ value }) => order.push(`${value.result.pass}`));
  await Promise.all([figure, claim]);
  expect(order).toEqual(['true', 'figure']);
  expect((await ask({ to: 'none', call: { name: 'about' } })).problem).toBe('the module none is not open');
});

test('a worker says in which way a module failed, and fetches it again when it is asked again', async () => {
  served[simd.address] = () => new Response('gone', { status: 404 });
  const ask = worker({ part: first, simd: 'auto' });
  expect((await ask({ open: first, simd: 'auto' })).failed).toMatchObject({ kind: 'not-found', detail: { status: 404 } });
  served[simd.address] = () => new Response(bytesOf(first));
  expect((await ask({ open: first, simd: 'auto' })).value).toBe(first);
});
