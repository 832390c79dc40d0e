// Verdicts are sentences, in both languages, and a NaN never passes for a number.
import type { Check } from 'linearmem';
import { expect, test } from 'vitest';
import { computed, errorCell, expected, leadingCheck, sentence, toleranceCell } from '../../../web/src/claims/verdict.ts';
import { loadTexts } from '../../../web/src/texts/languages.ts';

const en = await loadTexts('en');
const zh = await loadTexts('zh');

function check(change: Partial<Check>): Check {
  return {
    quantity: 'q', kind: 'value', expected: 0.5, got: 0.5, error: 0, tolerance: 1e-12, relative: false, pass: true, unit: '', condition: '', digits: '0.5', ...change,
  };
}

test.each([
  [check({ error: 1.1e-16 }), 'agree to 1.1e−16, allowed 1e−12', '相差 1.1e−16，容许 1e−12'],
  [check({}), 'agree in every digit, allowed 1e−12', '每一位都相同，容许 1e−12'],
  [check({ got: 0.25, error: 0.25, pass: false }), 'differ by 0.25, allowed 1e−12', '相差 0.25，只容许 1e−12'],
  [check({ error: 7.7e-12, tolerance: 1e-6, relative: true }), 'agree to 7.7e−12 rel., allowed 1e−6 rel.', '相差 7.7e−12（相对），容许 1e−6（相对）'],
  [check({ kind: 'exact', tolerance: 0 }), 'equal, bit for bit', '逐位相同'],
  [check({ kind: 'exact', got: 0.75, error: 0.25, tolerance: 0, pass: false }), 'differ by 0.25, none allowed', '相差 0.25，不容许有差'],
  [check({ kind: 'stated', got: 3.12e-7, condition: '> 0 and < 1e-5' }), '3.1e−7 is > 0 and < 1e−5', '3.1e−7，满足“> 0，且 < 1e−5”'],
  [check({ kind: 'stated', got: 0, condition: '> 0', pass: false }), '0 is not > 0', '0，不满足“> 0”'],
  [check({ got: NaN, error: NaN, pass: false }), 'gave something that is not a number', '得出的不是数'],
])('%o', (one, english, chinese) => {
  expect(sentence(one, en)).toBe(english);
  expect(sentence(one, zh)).toBe(chinese);
});

test('the first failing check speaks, otherwise the one closest to its bound', () => {
  const easy = check({ error: 1e-15 });
  const close = check({ error: 9e-13 });
  const stated = check({ kind: 'stated', condition: '> 0' });
  const failing = check({ error: 1, pass: false });
  expect(leadingCheck([stated, easy, close])).toBe(close);
  expect(leadingCheck([close, failing, check({ error: 2, pass: false })])).toBe(failing);
  expect(leadingCheck([])).toBeUndefined();
});

test('a row lists its values while they are few and counts them when they are many', () => {
  const values = [0.25, 0.5, 0.75, 1, 0.19].map((got) => check({ got, expected: got }));
  expect(computed(values.slice(0, 3), en)).toEqual({ shown: '0.25, 0.5, 0.75', full: '0.25, 0.5, 0.75' });
  expect(expected(values, en)).toEqual({ shown: '0.25 and 4 more', full: '0.25, 0.5, 0.75, 1, 0.19' });
  expect(expected([check({}), check({})], en).shown).toBe('0.5');
});

test('values carry the unit of their quantity', () => {
  const memory = [check({ unit: 'bytes', got: 16640 }), check({ unit: 'MiB', got: 0.015869 })];
  expect(computed(memory, en).shown).toBe('16\u202f640\u202fB, 0.01587\u202fMiB');
});

test('an exact claim allows no error, a stated one has none', () => {
  expect(toleranceCell(check({ kind: 'exact', tolerance: 0 }), en).shown).toBe('none');
  expect(errorCell(check({ kind: 'stated' }), en).shown).toBe('–');
});
