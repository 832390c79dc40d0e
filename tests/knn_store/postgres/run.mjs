// node run.mjs PROGRAM [WORDS...]: starts PostgreSQL with pgvector on a port of its own and runs the program with LINEARMEM_POSTGRES set to its
// address. Ends with 77, which CTest takes for skipped, where the packages are not installed (npm ci in this folder).
import { spawn } from 'node:child_process';

let packages;
try {
  packages = await Promise.all(['pglite', 'pglite-socket', 'pglite-pgvector'].map((name) => import(`@electric-sql/${name}`)));
} catch (problem) {
  console.log(`skipped: ${problem.message.split('\n')[0]}; npm ci in tests/knn_store/postgres installs it`);
  process.exit(77);
}
const [{ PGlite }, { PGLiteSocketServer }, { vector }] = packages;
const db = await PGlite.create({ extensions: { vector } });
const port = 20000 + (process.pid % 20000);
const server = new PGLiteSocketServer({ db, port, host: '127.0.0.1', maxConnections: 8 });
await server.start();
const [program, ...words] = process.argv.slice(2);
const child = spawn(program, words, { stdio: 'inherit', env: { ...process.env, LINEARMEM_POSTGRES: `postgresql://postgres@127.0.0.1:${port}/postgres?sslmode=disable` } });
child.on('exit', async (code) => {
  await server.stop();
  process.exit(code ?? 1);
});
