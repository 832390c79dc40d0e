// The run as a file, field for field what `linearmem verify --json` prints, so that two places can be compared.
import type { About } from '../engine/calls.ts';
import { claimNotes } from './notes.ts';
import type { ClaimsRun } from './run.ts';

export async function report(run: ClaimsRun, { buildId, target }: About): Promise<string> {
  const notes = await claimNotes();
  const computed = [...run.rows.values()].filter(({ timed }) => timed !== undefined);
  const passed = computed.filter(({ timed }) => timed!.result.pass).length;
  const claims = computed.map(({ info: { id, room }, timed }) => {
    const { statement, source, inputs } = notes[id]!;
    const { result, milliseconds } = timed!;
    const checks = result.checks.map(({ quantity, kind, expected, got, error, tolerance, relative, unit, condition, pass, digits }) =>
      ({ quantity, kind, expected, got, error, tolerance, relative, unit, condition, pass, digits }));
    return { id, room, statement, source, inputs, pass: result.pass, milliseconds, checks };
  });
  const whole = { build_id: buildId, simd_target: target, mistakes: run.switchedOn, passed, failed: computed.length - passed, claims };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

// The command that computes the same: these claims, or all of them, with these mistakes.
export function verifyCommand(ids: readonly string[], mistakes: readonly string[]): string {
  return ['linearmem verify', ...ids, ...mistakes.map((name) => `--mistake ${name}`)].join(' ');
}
