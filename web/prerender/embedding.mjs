// How a figure gets into a page made with each of these: what is written once for the site, and what stands where the figure shall be. The
// gallery shows it, and tools/try_embedding.mjs builds sites from exactly these words.
/** @typedef {{ script: string, frames: string, embed: string }} Addresses */
/** @typedef {{ en: string, zh: string }} Both */
/** @typedef {{ file?: string, code: string }} Piece */
/** @typedef {{ name: string, note: Both, once?: (at: Addresses) => Piece, page: (at: Addresses, figure: string) => Piece }} Guide */

const tag = (figure) => `<linear-mem figure="${figure}"></linear-mem>`;

/** @type {Guide[]} */
export const guides = [
  {
    name: 'HTML',
    note: { en: 'The script once on the page, the tag wherever a figure shall stand.', zh: '脚本在页面中写一次，标签写在要放图的地方。' },
    page: ({ script }, figure) => ({ code: `<script src="${script}" defer></script>\n${tag(figure)}` }),
  },
  {
    name: 'iframe',
    note: {
      en: 'Where scripts may not be added. The second script gives the frame the height of its figure; without it, set one.',
      zh: '用于不能添加脚本的地方。第二个脚本使框架与图同高；没有它时请自己设定高度。',
    },
    page: ({ frames, embed }, figure) => ({
      code: `<iframe src="${embed}?figure=${figure}" title="${figure}" style="width:100%;height:720px;border:0" sandbox="allow-scripts allow-downloads"></iframe>\n<script src="${frames}" defer></script>`,
    }),
  },
  {
    name: 'MkDocs',
    note: { en: 'Markdown passes the tag through; a div around it keeps it out of the paragraph.', zh: 'Markdown 会原样保留标签；外面的 div 使它不落在段落里。' },
    once: ({ script }) => ({ file: 'mkdocs.yml', code: `extra_javascript:\n  - ${script}` }),
    page: (_, figure) => ({ file: 'docs/index.md', code: `<div>${tag(figure)}</div>` }),
  },
  {
    name: 'Jupyter Book, Sphinx with MyST',
    note: { en: 'The raw directive, in a Markdown page or cell.', zh: '在 Markdown 页面或单元中使用 raw 指令。' },
    page: ({ script }, figure) => ({ file: 'index.md', code: `\`\`\`{raw} html\n<script src="${script}" defer></script>\n${tag(figure)}\n\`\`\`` }),
  },
  {
    name: 'VitePress',
    note: { en: 'The configuration loads the script and tells Vue that the tag is not one of its components.', zh: '配置文件载入脚本，并告诉 Vue 这个标签不是它的组件。' },
    once: ({ script }) => ({
      file: '.vitepress/config.mjs',
      code: `export default {\n  head: [['script', { src: '${script}', defer: '' }]],\n  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag === 'linear-mem' } } },\n};`,
    }),
    page: (_, figure) => ({ file: 'index.md', code: tag(figure) }),
  },
  {
    name: 'Docusaurus',
    note: { en: 'One more entry in the configuration; MDX takes the tag as it is.', zh: '在配置中加一项；MDX 直接接受这个标签。' },
    once: ({ script }) => ({ file: 'docusaurus.config.js', code: `scripts: [{ src: '${script}', defer: true }],` }),
    page: (_, figure) => ({ file: 'docs/index.mdx', code: tag(figure) }),
  },
  {
    name: 'WordPress',
    note: {
      en: 'In a block "Custom HTML". Where the site strips scripts from it, take the iframe without its script.',
      zh: '放进“自定义 HTML”区块。如果网站会去掉其中的脚本，请用不带脚本的 iframe。',
    },
    page: ({ script }, figure) => ({ code: `<script src="${script}" defer></script>\n${tag(figure)}` }),
  },
];
