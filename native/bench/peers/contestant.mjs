// A contestant is a process of its own: started with MECHANISM FOLDER NAME TOKENS HEADS WIDTH it reads FOLDER/*.f32, calls once, writes
// its outputs there under its name, and prints a line of JSON; then each line it reads is a number of calls, answered with their seconds:
// of the wall's clock, or with CONTEST_CLOCK=processor in its environment those that it was running.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

const oneThread = { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', MKL_NUM_THREADS: '1' };

export class Contestant {
  constructor(name, [program, ...words], case_, folder, clock = 'wall') {
    this.name = name;
    this.child = spawn(program, [...words, case_.mechanism, folder, name, case_.tokens, case_.heads, case_.width].map(String),
      { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...oneThread, CONTEST_CLOCK: clock } });
    this.program = path.basename(words.at(-1) ?? program);
    this.complaint = '';
    this.child.stderr.on('data', (piece) => (this.complaint += piece));
    this.child.stdin.on('error', () => undefined); // it has ended; its exit says so
    this.ended = new Promise((_, reject) => {
      this.child.on('error', reject);
      this.child.on('exit', (code) => reject(new Error(`${this.program} ended with ${code}: ${this.complaint.trim()}`)));
    });
    this.ended.catch(() => undefined);
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  async line() {
    const { value, done } = await Promise.race([this.lines.next(), this.ended]);
    return done ? this.ended : value;
  }

  async start() {
    this.about = JSON.parse(await this.line());
    return this;
  }

  async seconds(calls) {
    this.child.stdin.write(`${calls}\n`);
    return Number(await this.line());
  }

  end() {
    this.child.stdin.end();
  }
}

export function now() {
  if (process.env.CONTEST_CLOCK !== 'processor') return Number(process.hrtime.bigint()) * 1e-9;
  const { user, system } = process.cpuUsage();
  return (user + system) * 1e-6;
}

// The other side of the pipe, for contestants in JavaScript: call() is one call, outputs() what it gave.
export async function serve({ about, call }) {
  process.stdout.write(`${JSON.stringify(about)}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    const begin = now();
    for (let left = Number(line); left > 0; left -= 1) await call();
    process.stdout.write(`${now() - begin}\n`);
  }
}

export function readArguments(words) {
  const [mechanism, folder, name, tokens, heads, width] = words;
  return { folder, name, case_: { mechanism, tokens: Number(tokens), heads: Number(heads), width: Number(width) } };
}
