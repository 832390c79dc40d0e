// The address carries state both ways, and nothing in it can take the page out of its limits.
import { expect, test } from 'vitest';
import { clampSetting, hiddenKnobs, type Known, readAddress, writeAddress } from '../../../web/src/page/address.ts';

const width = { name: 'key_width', meaning: '', default: 64, minimum: 1, maximum: 1024, step: 1 };
const beta = { name: 'beta', meaning: '', default: 1, minimum: 0, maximum: 2, step: 0 };
const known: Known = {
  mistakes: [{ name: 'half-beta' }, { name: 'no-reset' }],
  experiments: [{ name: 'memory-tradeoff', settings: [beta, width] }],
};

test('an empty address is the default state', () => {
  expect(readAddress('', known)).toEqual({ language: undefined, simd: 'auto', mistakes: [], hide: [], figures: { 'memory-tradeoff': {} } });
});

test('what is written is read again', () => {
  const state = {
    language: 'zh' as const, simd: 'off' as const, mistakes: ['half-beta', 'no-reset'], hide: ['beta', 'memory-tradeoff.key_width'],
    figures: { 'memory-tradeoff': { beta: 0.25, key_width: 128 } },
  };
  const address = writeAddress(state);
  expect(address).toBe('?lang=zh&simd=off&break=half-beta,no-reset&hide=beta,memory-tradeoff.key_width&memory-tradeoff.beta=0.25&memory-tradeoff.key_width=128');
  expect(readAddress(address, known)).toEqual(state);
});

test('hide keeps only names of knobs, of all figures or of one', () => {
  const { hide } = readAddress(`?hide=beta,<script>,other.key_width,${'x'.repeat(9000)},memory-tradeoff.key_width,beta`, known);
  expect(hide).toEqual(['beta', 'memory-tradeoff.key_width']);
  expect(['beta', 'key_width'].map(hiddenKnobs(hide, 'another'))).toEqual([true, false]);
  expect(['beta', 'key_width', 'alpha'].map(hiddenKnobs(hide, 'memory-tradeoff'))).toEqual([true, true, false]);
});

test('defaults are not written and not kept', () => {
  expect(writeAddress(readAddress('?memory-tradeoff.beta=1&memory-tradeoff.key_width=64.2&simd=on&break=', known))).toBe('');
});

test.each([
  ['?memory-tradeoff.key_width=1e309', { key_width: 1024 }],
  ['?memory-tradeoff.key_width=-5', { key_width: 1 }],
  ['?memory-tradeoff.key_width=12.7', { key_width: 13 }],
  ['?memory-tradeoff.beta=7', { beta: 2 }],
  ['?memory-tradeoff.beta=<script>alert(1)</script>', {}],
  ['?memory-tradeoff.beta=', {}],
  ['?memory-tradeoff.beta=NaN&memory-tradeoff.unknown=3', {}],
  [`?memory-tradeoff.beta=${'9'.repeat(5000)}`, { beta: 2 }],
  ['?memory-tradeoff.__proto__=3&__proto__.beta=2', {}],
])('%.60s gives %o', (search, settings) => {
  expect(readAddress(search, known).figures['memory-tradeoff']).toEqual(settings);
});

test('unknown languages and mistakes are ignored, known ones keep the module\'s order', () => {
  expect(readAddress('?lang=fr&break=no-reset,<img>,half-beta', known)).toMatchObject({ language: undefined, mistakes: ['half-beta', 'no-reset'] });
});

test('a setting takes the nearest value it can have', () => {
  expect(clampSetting(0.33, { ...beta, step: 0.25 })).toBe(0.25);
  expect(clampSetting(99, width)).toBe(99);
  expect(clampSetting(Number.NaN, width)).toBeUndefined();
});
