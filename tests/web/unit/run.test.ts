// The queue of claims: each once, only those that a switch touches again, and never a number from an old switch position.
import type { ClaimInfo } from 'linearmem';
import { beforeEach, expect, test } from 'vitest';
import { verifyCommand } from '../../../web/src/claims/report.ts';
import { ClaimsRun } from '../../../web/src/claims/run.ts';
import type { TimedResult } from '../../../web/src/engine/calls.ts';
import type { EngineAbout } from '../../../web/src/engine/engine.ts';

const claim = (id: string, ...mistakes: string[]): ClaimInfo => ({ id, room: '', statement: '', source: '', inputs: '', mistakes });
const about = {
  claims: [claim('A', 'x'), claim('B', 'x', 'y'), claim('C')], mistakes: [{ name: 'x', meaning: '' }, { name: 'y', meaning: '' }],
} as unknown as EngineAbout;

let calls: string[];
let beforeAnswer: (id: string) => void | Promise<void>;
let run: ClaimsRun;

beforeEach(() => {
  calls = [];
  beforeAnswer = () => undefined;
  run = new ClaimsRun({
    about,
    async verify(id: string, mistakes: string[]): Promise<TimedResult> {
      calls.push([id, ...mistakes].join(' '));
      await beforeAnswer(id);
      return { result: { id, pass: mistakes.length === 0, checks: [] }, milliseconds: 2 };
    },
  });
});

const states = () => [...run.rows.values()].map(({ state }) => state);

test('every claim runs once, in the module\'s order', async () => {
  await run.run();
  expect(calls).toEqual(['A', 'B', 'C']);
  expect(states()).toEqual(['pass', 'pass', 'pass']);
  expect(run.milliseconds).toBe(6);
  expect(run.running).toBe(false);
});

test('a switch runs what it touches again, with the mistakes each claim knows, and mending restores', async () => {
  await run.run();
  calls = [];
  await run.switchTo(['x']);
  expect(calls).toEqual(['A x', 'B x']);
  expect(run.fallen).toEqual(['A', 'B']);
  calls = [];
  await run.switchTo(['y', 'x']);
  expect(calls).toEqual(['B x y']);
  calls = [];
  await run.switchTo([]);
  expect(calls).toEqual(['A', 'B']);
  expect(run.fallen).toEqual([]);
});

test('a switch that moves while a claim is computed has it computed again', async () => {
  beforeAnswer = () => {
    beforeAnswer = () => undefined;
    void run.switchTo(['x']);
  };
  await run.run();
  expect(calls).toEqual(['A', 'B x', 'C', 'A x']);
  expect(states()).toEqual(['fail', 'fail', 'pass']);
  expect(run.rows.get('A')!.mistakes).toEqual(['x']);
});

test('a claim that the module refuses stops alone, with the reason', async () => {
  beforeAnswer = (id) => {
    if (id === 'B') throw new Error('no memory');
  };
  await run.run();
  expect(states()).toEqual(['pass', 'stopped', 'pass']);
  expect(run.rows.get('B')!.problem).toEqual(new Error('no memory'));
  expect(run.fallen).toEqual(['B']);
});

test('listeners hear of each row and of the start and end', async () => {
  const heard: (string | undefined)[] = [];
  run.onChange((id) => heard.push(id));
  await run.run(['C', 'unknown']);
  expect(heard).toEqual(['C', undefined, 'C', 'C', undefined]);
});

test('the command names claims and mistakes', () => {
  expect(verifyCommand([], [])).toBe('linearmem verify');
  expect(verifyCommand(['LM08'], ['half-beta', 'no-reset'])).toBe('linearmem verify LM08 --mistake half-beta --mistake no-reset');
});
