// Finds and starts a browser's program, reads where it listens, and ends it with what it has started.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function found(name, variable, places) {
  const place = [process.env[variable], ...places].find((one) => one && existsSync(one));
  if (!place) throw new Error(`no ${name} at ${places.join(', ')}; install it, or set ${variable} to its path`);
  return place;
}

export function scratchFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `linearmem-${name}-`));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

// Resolves with what `ready` finds in the program's words; without one, once it runs.
export async function start(program, words, { env = process.env, ready, from = 'stderr', patience = 40_000 }) {
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const end = () => new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) return done();
    child.once('exit', done);
    try {
      process.kill(-child.pid, 'SIGKILL'); // its own group
    } catch {
      done();
    }
  });
  let said = '';
  try {
    const answer = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${program} was not ready after ${patience / 1000} s: ${said.slice(-500)}`)), patience);
      child.once('error', reject);
      if (!ready) child.once('spawn', () => { clearTimeout(timer); resolve(); });
      child.once('exit', (code) => reject(new Error(`${program} ended with ${code}: ${said.slice(-500)}`)));
      const hear = (bytes) => {
        said += bytes;
        const match = ready?.exec(said);
        if (!match) return;
        clearTimeout(timer);
        resolve(match);
      };
      child[from].on('data', hear);
      child[from === 'stderr' ? 'stdout' : 'stderr'].resume();
    });
    return { answer, end };
  } catch (problem) {
    await end();
    throw problem;
  }
}
