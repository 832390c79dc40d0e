// A result in words and numbers: what was expected, what came out, and the verdict as a sentence.
import type { Check } from 'linearmem';
import type { Texts } from '../texts/languages.ts';
import { full, magnitude, short } from '../texts/numbers.ts';
import { problemWords, withReason, type Words } from '../texts/problems.ts';
import type { Row } from './run.ts';

export interface Cell {
  shown: string;
  full: string; // every digit, for the hover text
}

// The check that speaks for the claim: the first that fails, otherwise the one closest to its bound, and a
// measured number before a stated condition.
export function leadingCheck(checks: readonly Check[]): Check | undefined {
  const strain = ({ kind, tolerance, error }: Check) => (kind === 'stated' ? -1 : tolerance > 0 ? error / tolerance : 0);
  return checks.find(({ pass }) => !pass) ?? [...checks].sort((a, b) => strain(b) - strain(a))[0];
}

// A check's number with its unit; B stands for bytes in both languages.
function numberCell(x: number, { unit }: Check): Cell {
  const after = unit === '' ? '' : `\u202f${unit === 'bytes' ? 'B' : unit}`;
  return { shown: short(x) + after, full: full(x) + after };
}

// In the reader's language: words that the module states are known one by one; "> 0 and < 1e-5" is numbers but for the "and".
function conditionOf({ condition }: Check, texts: Texts): string {
  const key = `condition.${condition}`;
  if (texts.knows(key)) return texts.say(key);
  return condition.replace(/ and /g, texts.say('value.and')).replace(/e-/g, 'e\u2212');
}

function expectedOf(check: Check, texts: Texts): Cell {
  if (check.kind !== 'stated') return numberCell(check.expected, check);
  const condition = conditionOf(check, texts);
  return { shown: condition, full: condition };
}

// All values while they are few, otherwise the one that speaks for them.
function listed(checks: readonly Check[], cellOf: (check: Check) => Cell, texts: Texts): Cell {
  const cells = checks.map(cellOf);
  const all = cells.map((cell) => cell.full).join(', ');
  if (cells.length > 1 && cells.every(({ shown }) => shown === cells[0]!.shown)) return { shown: cells[0]!.shown, full: all };
  if (cells.length <= 4) return { shown: cells.map(({ shown }) => shown).join(', '), full: all };
  const lead = cellOf(leadingCheck(checks)!);
  return { shown: texts.say('value.more', { value: lead.shown, count: cells.length - 1 }), full: all };
}

export function expected(checks: readonly Check[], texts: Texts): Cell {
  return listed(checks, (check) => expectedOf(check, texts), texts);
}

export function computed(checks: readonly Check[], texts: Texts): Cell {
  return listed(checks, (check) => numberCell(check.got, check), texts);
}

export function errorCell(check: Check, texts: Texts): Cell {
  return check.kind === 'stated' ? { shown: '–', full: '' } : { shown: sized(check.error, check, texts), full: full(check.error) };
}

export function toleranceCell(check: Check, texts: Texts): Cell {
  if (check.kind === 'stated') return { shown: '–', full: '' };
  if (check.kind === 'exact') return { shown: texts.say('value.none'), full: '0' };
  return { shown: sized(check.tolerance, check, texts), full: full(check.tolerance) };
}

function sized(x: number, { relative }: Check, texts: Texts): string {
  return relative ? texts.say('value.relative', { value: magnitude(x) }) : magnitude(x);
}

export function sentence(check: Check, texts: Texts): string {
  const { kind, pass } = check;
  if (Number.isNaN(check.got)) return texts.say('verdict.not-a-number');
  const got = short(check.got, 2);
  if (kind === 'stated') return texts.say(pass ? 'verdict.stated' : 'verdict.not-stated', { got, condition: conditionOf(check, texts) });
  const error = sized(check.error, check, texts);
  if (kind === 'exact') return texts.say(pass ? 'verdict.equal' : 'verdict.unequal', { error });
  const tolerance = sized(check.tolerance, check, texts);
  if (pass && check.error === 0) return texts.say('verdict.same', { tolerance });
  return texts.say(pass ? 'verdict.agree' : 'verdict.differ', { error, tolerance });
}

export function verdict(row: Row, texts: Texts): Words {
  if (row.state === 'waiting' || row.state === 'running') return [texts.say(`verdict.${row.state}`)];
  if (row.state === 'stopped') return withReason(texts.say('verdict.stopped'), problemWords(row.problem, texts));
  const check = leadingCheck(row.timed?.result.checks ?? []);
  return check ? [sentence(check, texts)] : [];
}
