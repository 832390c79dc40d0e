// Defines <linear-mem> when it is imported in a page. Attributes: figure, its settings (beta, key-width, ...), lang, theme, hide.
export {};
