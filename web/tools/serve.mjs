// A static server for the built page: node tools/serve.mjs [--port N] [--folder dist]. Prints the address it listens on.
// Compresses once per file. Tests start it in-process and give `answer` to plant faults.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.wasm': 'application/wasm',
  '.woff2': 'font/woff2', '.svg': 'image/svg+xml', '.json': 'application/json', '.png': 'image/png', '.txt': 'text/plain; charset=utf-8',
};
const alreadySmall = new Set(['.woff2', '.png']);

function fileFor(folder, path) {
  const wanted = normalize(join(folder, decodeURIComponent(path)));
  if (wanted !== folder && !wanted.startsWith(folder + sep)) return undefined;
  const file = existsSync(wanted) && statSync(wanted).isDirectory() ? join(wanted, 'index.html') : wanted;
  return existsSync(file) ? file : undefined;
}

function encodingFor(accepted, extension) {
  if (alreadySmall.has(extension)) return undefined;
  return ['br', 'gzip'].find((name) => new RegExp(`\\b${name}\\b`).test(accepted ?? ''));
}

const compress = {
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }), // the best level takes a second
  gzip: (bytes) => gzipSync(bytes),
};
const compressed = new Map();

function bodyOf(file, encoding) {
  if (!encoding) return readFileSync(file);
  const key = `${encoding} ${statSync(file).mtimeMs} ${file}`;
  if (!compressed.has(key)) compressed.set(key, compress[encoding](readFileSync(file)));
  return compressed.get(key);
}

// answer(path) may return { status, headers, body } to stand in for a file; base is the sub-path the site lives under.
/** @param {{ folder: string, port?: number, base?: string, answer?: (path: string) => object | undefined }} options */
export async function serve({ folder, port = 0, base = '/', answer = () => undefined }) {
  const root = resolve(folder);
  const log = [];

  function reply(request, response) {
    const { pathname } = new URL(request.url, 'http://localhost');
    const planted = answer(pathname);
    const file = pathname.startsWith(base) ? fileFor(root, pathname.slice(base.length)) : undefined;
    const status = planted?.status ?? (file || planted ? 200 : 404);
    log.push({ path: pathname, status });
    if (!file && !planted) return response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('not found');
    const extension = extname(file ?? pathname);
    const encoding = planted?.body === undefined ? encodingFor(request.headers['accept-encoding'], extension) : undefined;
    response.writeHead(status, {
      'content-type': types[extension] ?? 'application/octet-stream',
      'cache-control': pathname.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding', ...(encoding ? { 'content-encoding': encoding } : {}), ...planted?.headers,
    });
    return response.end(request.method === 'HEAD' ? undefined : planted?.body ?? bodyOf(file, encoding));
  }

  const server = createServer((request, response) => {
    try {
      reply(request, response);
    } catch {
      response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' }).end('bad request');
    }
  });
  await new Promise((ready, refused) => server.once('error', refused).listen(port, '127.0.0.1', ready));
  return {
    address: `http://127.0.0.1:${server.address().port}${base}`,
    log,
    close: () => new Promise((done) => { server.close(done); server.closeAllConnections(); }),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, folder: { type: 'string' } } });
  const folder = resolve(values.folder ?? join(import.meta.dirname, '..', 'dist'));
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`--port is ${values.port}, must be a whole number from 0 to 65535`);
  if (!existsSync(join(folder, 'index.html'))) throw new Error(`${folder} has no index.html: build the page first (npm run build)`);
  const { address } = await serve({ folder, port });
  console.log(address);
}
