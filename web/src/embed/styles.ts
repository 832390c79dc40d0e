// The element's stylesheet, made once and adopted by every shadow root: a constructed sheet is not subject to style-src.
import css from 'virtual:linearmem/element-css';

let sheet: CSSStyleSheet | undefined;

export function elementStyles(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
  }
  return sheet;
}
