// Tries the gallery's code for real: node tools/try_embedding.mjs [NAME...]. For each kind of page that can be made here it makes a site from exactly the
// code that the gallery shows, serves it on an origin of its own, and waits in Chromium until the figure is drawn. MkDocs and Sphinx are Debian
// packages (mkdocs, python3-sphinx with python3-myst-parser), VitePress and Docusaurus are fetched with npm into a scratch folder; WordPress is tried as
// the page that its "Custom HTML" block leaves. Build the page first (npm run build).
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, openPage, siteFolder } from '../../tests/web/browser.mjs';
import { guides } from '../prerender/embedding.mjs';
import { serve } from './serve.mjs';

const figure = 'memory-tradeoff';
const versions = { vitepress: '1.6.4', docusaurus: '3.9.2', react: '19.2.0', webpack: '5.101.3' }; // later webpacks refuse the options that this Docusaurus gives them

function write(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const run = (folder, program, ...words) => execFileSync(program, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', maxBuffer: 1 << 26, timeout: 480_000 });
const npm = (folder, ...packages) => run(folder, 'npm', 'install', '--no-audit', '--no-fund', '--silent', ...packages);

const makers = {
  HTML: (folder, { page }) => { write(folder, { 'out/index.html': `<!doctype html><meta charset="utf-8"><title>notes</title>${page.code}` }); return 'out'; },
  iframe: (folder, { page }) => { write(folder, { 'out/index.html': `<!doctype html><meta charset="utf-8"><title>notes</title>${page.code}` }); return 'out'; },
  WordPress: (folder, { page }) => {
    write(folder, { 'out/index.html': `<!doctype html><meta charset="utf-8"><title>notes</title><div class="entry-content wp-block-post-content">\n\n${page.code}\n\n</div>` });
    return 'out';
  },
  MkDocs(folder, { once, page }) {
    write(folder, { 'mkdocs.yml': `site_name: notes\n${once.code}\n`, [page.file]: `# Notes\n\nBefore.\n\n${page.code}\n\nAfter.\n` });
    run(folder, 'mkdocs', 'build', '--quiet');
    return 'site';
  },
  'Jupyter Book, Sphinx with MyST'(folder, { page }) {
    write(folder, { 'conf.py': "project = 'notes'\nextensions = ['myst_parser']\n", [page.file]: `# Notes\n\nBefore.\n\n${page.code}\n\nAfter.\n` });
    run(folder, 'sphinx-build', '-q', '-W', '.', 'out');
    return 'out';
  },
  VitePress(folder, { once, page }) {
    write(folder, { 'package.json': '{"type":"module","private":true}', [once.file]: once.code, [page.file]: `# Notes\n\n${page.code}\n` });
    npm(folder, `vitepress@${versions.vitepress}`);
    run(folder, 'npx', 'vitepress', 'build');
    return '.vitepress/dist';
  },
  Docusaurus(folder, { once, page }) {
    const { docusaurus, react, webpack } = versions;
    write(folder, {
      'package.json': '{"private":true}',
      'docusaurus.config.js': `module.exports = { title: 'notes', url: 'http://127.0.0.1', baseUrl: '/', onBrokenLinks: 'throw',\n${once.code}\n`
        + `presets: [['@docusaurus/preset-classic', { docs: { routeBasePath: '/' }, blog: false, theme: {} }]] };\n`,
      [page.file]: `---\nslug: /\n---\n# Notes\n\n${page.code}\n`,
    });
    npm(folder, `@docusaurus/core@${docusaurus}`, `@docusaurus/preset-classic@${docusaurus}`, `react@${react}`, `react-dom@${react}`, `webpack@${webpack}`);
    run(folder, 'npx', 'docusaurus', 'build');
    return 'build';
  },
};

// Drawn in the page itself, or in a frame of it.
async function waitUntilDrawn(page) {
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    for (const frame of page.frames()) {
      const label = await frame.evaluate(() => {
        const host = document.querySelector('linear-mem');
        host?.scrollIntoView();
        return host?.shadowRoot?.querySelector('svg[role="img"]')?.getAttribute('aria-label');
      }).catch(() => undefined);
      if (label) return label;
    }
    await new Promise((resume) => setTimeout(resume, 100));
  }
  throw new Error(`no figure after 30 s: ${(await page.innerText('body')).slice(0, 200)}`);
}

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.find((name) => !guides.some((guide) => guide.name === name));
if (unknown) throw new Error(`no guide is called ${unknown}: ${guides.map(({ name }) => name).join('; ')}`);

const site = await serve({ folder: siteFolder, answer: () => ({ headers: { 'access-control-allow-origin': '*' } }) });
const at = { script: `${site.address}linear-mem.js`, frames: `${site.address}frames.js`, embed: `${site.address}embed.html` };
const browser = await launch();
let failed = 0;
for (const guide of guides.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  const folder = mkdtempSync(join(tmpdir(), 'linearmem-embedding-'));
  try {
    const out = makers[guide.name](folder, { once: guide.once?.(at), page: guide.page(at, figure) });
    const notes = await serve({ folder: join(folder, out) });
    const { page, complaints, close } = await openPage(browser, notes.address);
    await waitUntilDrawn(page);
    const ours = complaints.filter((words) => !/404 \(Not Found\)/.test(words)); // a generator's icon that is not there
    console.log(`works    ${guide.name}${ours.length > 0 ? `, with in the console: ${ours.join(' | ')}` : ''}`);
    await close();
    await notes.close();
  } catch (problem) {
    failed += 1;
    console.log(`FAILS    ${guide.name}: ${String(problem.stderr || problem.message).slice(-600)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
await browser.close();
await site.close();
process.exitCode = failed > 0 ? 1 : 0;
