// Firefox ESR over WebDriver BiDi: one socket, numbered commands.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { require } from '../browser.mjs';
import { withPatience } from './engines.mjs';
import { found, scratchFolder, start } from './programs.mjs';

const { WebSocket } = require('ws');

const preferences = {
  'browser.shell.checkDefaultBrowser': false, 'browser.startup.homepage_override.mstone': 'ignore', 'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false, 'app.update.enabled': false, 'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false, 'browser.safebrowsing.downloads.remote.enabled': false, 'intl.accept_languages': 'en-US',
  'services.settings.server': 'data:,', 'browser.newtabpage.enabled': false,
};

async function connect(address) {
  const socket = new WebSocket(address);
  await new Promise((open, refused) => socket.once('open', open).once('error', refused));
  const waiting = new Map();
  let count = 0;
  socket.on('message', (bytes) => {
    const { id, type, result, error, message } = JSON.parse(String(bytes));
    const caller = waiting.get(id);
    waiting.delete(id);
    if (type === 'success') caller?.resolve(result);
    else caller?.reject(new Error(`${error}: ${message}`));
  });
  const send = (method, params) => new Promise((resolve, reject) => {
    count += 1;
    waiting.set(count, { resolve, reject });
    socket.send(JSON.stringify({ id: count, method, params }));
  });
  return { send, close: () => socket.terminate() };
}

export async function startFirefox() {
  const program = found('Firefox', 'FIREFOX', ['/usr/bin/firefox-esr', '/usr/bin/firefox']);
  const profile = scratchFolder('firefox');
  writeFileSync(join(profile.folder, 'user.js'), Object.entries(preferences).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
  const browser = await start(program, ['--headless', '--no-remote', '--profile', profile.folder, '--remote-debugging-port', '0'], {
    env: { ...process.env, HOME: profile.folder, MOZ_CRASHREPORTER_DISABLE: '1' }, ready: /WebDriver BiDi listening on (ws:\/\/\S+)/,
  });
  const line = await connect(`${browser.answer[1]}/session`);
  await line.send('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
  return {
    async open(address) {
      const { context } = await line.send('browsingContext.create', { type: 'tab' });
      await line.send('browsingContext.navigate', { context, url: address, wait: 'complete' });
      return withPatience({
        async run(text) {
          const { type, result, exceptionDetails } = await line.send('script.callFunction', { functionDeclaration: text, target: { context }, awaitPromise: true });
          if (type !== 'success') throw new Error(exceptionDetails.text);
          return result.value;
        },
        close: () => line.send('browsingContext.close', { context }),
      });
    },
    async close() {
      line.close();
      await browser.end();
      profile.remove();
    },
  };
}
