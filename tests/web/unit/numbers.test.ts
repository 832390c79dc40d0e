import { expect, test } from 'vitest';
import { bytes, full, magnitude, milliseconds, short } from '../../../web/src/texts/numbers.ts';

test.each([
  [0, '0'], [0.5, '0.5'], [-1.088998885679583, '−1.089'], [0.92144279053506, '0.9214'], [0.011504930759062667, '0.0115'],
  [33554432, '33\u202f554\u202f432'], [-65536, '−65\u202f536'], [1024, '1024'], [2016.4923, '2016'], [123456.7, '123\u202f500'],
  [3.12345e-7, '3.123e−7'], [1.5e9 + 0.5, '1.5e9'], [NaN, 'NaN'], [Infinity, '∞'], [-Infinity, '−∞'],
])('%s is shown as %s', (value, shown) => expect(short(value)).toBe(shown));

test.each([[1.1102230246251565e-16, '1.1e−16'], [1e-12, '1e−12'], [0.25, '0.25'], [0, '0']])('the magnitude %s is %s', (value, shown) => {
  expect(magnitude(value)).toBe(shown);
});

test.each([[0.92144279053506, '0.92144279053506'], [33554432, '33554432'], [1e-12, '1e-12'], [-0.1, '-0.1']])('every digit of %s', (value, shown) => {
  expect(full(value)).toBe(shown);
});

test.each([[512, '512\u202fB'], [16640, '16.25\u202fKiB'], [33554432, '32\u202fMiB'], [2 ** 40 * 3, '3\u202fTiB']])('%s bytes are %s', (value, shown) => {
  expect(bytes(value)).toBe(shown);
});

test.each([[0.01, '< 0.1\u202fms'], [0.34, '0.3\u202fms'], [43.4, '43\u202fms'], [1234, '1.23\u202fs']])('%s ms are %s', (value, shown) => {
  expect(milliseconds(value)).toBe(shown);
});
