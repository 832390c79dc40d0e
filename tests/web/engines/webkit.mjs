// WebKitGTK's MiniBrowser over its WebDriver, which is plain HTTP; on a screen of its own where there is none.
import { createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { withPatience } from './engines.mjs';
import { found, scratchFolder, start } from './programs.mjs';

const libraries = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].flatMap((machine) => ['4.1', '6.0', '4.0'].map((version) => `/usr/lib/${machine}/webkit2gtk-${version}/MiniBrowser`));

async function freePort() {
  const server = createServer();
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function startScreen() {
  const program = found('Xvfb', 'XVFB', ['/usr/bin/Xvfb']);
  const { answer, end } = await start(program, ['-displayfd', '1', '-screen', '0', '1280x960x24', '-nolisten', 'tcp'], { ready: /(\d+)\n/, from: 'stdout' });
  return { display: `:${answer[1]}`, end };
}

async function ask(address, method, path, body) {
  const response = await fetch(`${address}${path}`, { method, body: body && JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
  return value;
}

async function listening(address, driver) {
  for (let round = 0; round < 200; round += 1) {
    try {
      return await ask(address, 'GET', '/status');
    } catch {
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }
  await driver.end();
  throw new Error(`WebKitWebDriver does not answer at ${address}`);
}

export async function startWebKit() {
  const program = found('WebKitWebDriver', 'WEBKIT_DRIVER', ['/usr/bin/WebKitWebDriver']);
  const binary = found('MiniBrowser', 'MINIBROWSER', libraries.filter(existsSync).concat(libraries));
  const screen = await startScreen();
  const home = scratchFolder('webkit');
  const port = await freePort();
  const env = { ...process.env, DISPLAY: screen.display, HOME: home.folder, XDG_RUNTIME_DIR: home.folder, GDK_BACKEND: 'x11', WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    LIBGL_ALWAYS_SOFTWARE: '1', WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', NO_AT_BRIDGE: '1', LANG: 'en_US.UTF-8', DBUS_SESSION_BUS_ADDRESS: 'disabled:' };
  const driver = await start(program, [`--port=${port}`], { env }).catch(async (problem) => {
    await screen.end();
    throw problem;
  });
  const address = `http://127.0.0.1:${port}`;
  await listening(address, driver);
  const { sessionId } = await ask(address, 'POST', '/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } } } });
  const session = `/session/${sessionId}`;
  await ask(address, 'POST', `${session}/timeouts`, { script: 60_000, pageLoad: 60_000 });
  return {
    async open(page) {
      await ask(address, 'POST', `${session}/url`, { url: page });
      return withPatience({
        async run(text) {
          const script = `const done = arguments[0]; (${text})().then((value) => done({ value }), (problem) => done({ problem: String(problem) }));`;
          const { value, problem } = await ask(address, 'POST', `${session}/execute/async`, { script, args: [] });
          if (problem !== undefined) throw new Error(problem);
          return value;
        },
        close: () => ask(address, 'POST', `${session}/url`, { url: 'about:blank' }),
      });
    },
    async close() {
      await ask(address, 'DELETE', session).catch(() => undefined);
      await driver.end();
      await screen.end();
      home.remove();
    },
  };
}
