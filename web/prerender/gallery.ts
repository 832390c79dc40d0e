// gallery.html: every figure as others may show it, with the code to copy for each kind of page. The addresses in the code are those of a host
// to come, which public/gallery.js replaces by the page's own.
import { figures as en } from '../src/texts/en/figures.ts';
import { page as enPage } from '../src/texts/en/page.ts';
import { figures as zh } from '../src/texts/zh/figures.ts';
import { page as zhPage } from '../src/texts/zh/page.ts';
import { policy } from './content_security_policy.ts';
import { guides } from './embedding.mjs';
import { escapeHtml } from './markup.ts';

const host = 'https://example.org/';
const at = { script: `${host}linear-mem.js`, frames: `${host}frames.js`, embed: `${host}embed.html` };

type Key = keyof typeof enPage;

const both = (english: string, chinese: string) => `<span lang="en">${escapeHtml(english)}</span><span lang="zh-Hans">${escapeHtml(chinese)}</span>`;
const text = (key: Key) => both(enPage[key], zhPage[key]);

function titleOf(name: string): string {
  const panels = (figures: typeof en | typeof zh) => Object.values((figures.experiments as Record<string, { panels: Record<string, { title: string }> }>)[name]!.panels)[0]!.title;
  return both(panels(en), panels(zh));
}

const piece = ({ file, code }: { file?: string; code: string }) =>
  `<figure class="code"><figcaption>${file ? `<code>${escapeHtml(file)}</code> ` : ''}<button type="button" class="quiet copy" hidden>${text('gallery.copy')}</button></figcaption><pre tabindex="0"><code>${escapeHtml(code)}</code></pre></figure>`;

function codeFor(name: string): string {
  return guides.map((guide) => `<details class="guide"><summary>${escapeHtml(guide.name)}</summary><p>${both(guide.note.en, guide.note.zh)}</p>
${guide.once ? `<p>${text('gallery.once')}</p>${piece(guide.once(at))}<p>${text('gallery.here')}</p>` : ''}${piece(guide.page(at, name))}</details>`).join('\n');
}

export function galleryHtml(names: readonly string[]): string {
  const sections = names.map((name) => `<section id="${name}"><h2>${titleOf(name)}</h2>
<linear-mem figure="${name}"></linear-mem>
<details class="embedding"><summary>${text('gallery.code')}</summary>
${codeFor(name)}</details></section>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.replace("worker-src 'self'", "worker-src 'self' blob:")}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>LinearMem: ${escapeHtml(enPage['gallery.heading'])}</title>
<link rel="icon" href="./icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="./gallery.css">
<script src="./first_paint.js"></script>
<script src="./linear-mem.js" defer></script>
<script src="./gallery.js" defer></script>
</head>
<body>
<header><p><a href="./">LinearMem</a></p><nav><a href="?lang=en" lang="en" hreflang="en">English</a> <a href="?lang=zh" lang="zh-Hans" hreflang="zh-Hans">中文</a></nav></header>
<main>
<h1>${text('gallery.heading')}</h1>
<p class="read">${text('gallery.intro')}</p>
<p class="read">${text('gallery.attributes')}</p>
<ul class="names">${names.map((name) => `<li><a href="#${name}">${titleOf(name)}</a></li>`).join('')}</ul>
${sections.join('\n')}
</main>
</body>
</html>
`;
}
