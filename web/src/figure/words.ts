// How wide words come out in a figure, and how they are broken to fit: SVG does not wrap text by itself.
const labelSize = 14; // px, as in figure.css

export const lineHeight = 18; // px

// Of the widest of the fonts that a system may take.
export function textWidth(text: string): number {
  return [...text].reduce((sum, letter) => sum + (isWide(letter) || 'mwMW'.includes(letter) ? 1 : 'fijlrt.,:;()[] '.includes(letter) ? 0.42 : 0.62), 0) * labelSize;
}

function isWide(letter: string): boolean {
  return letter > '\u2e80';
}

// Rows of about the same length: as narrow as the least number of rows allows, so that no single word or character is left for the last.
// Chinese breaks at a mark where that takes no more rows.
export function wrapped(text: string, room: number): string[] {
  const least = filled(pieces(text), room).length;
  const whole = clauses(text);
  const fits = (rows: string[], width: number) => rows.length <= least && rows.every((row) => textWidth(row) <= width);
  const parts = fits(filled(whole, room), room) ? whole : pieces(text);
  let best = filled(parts, room);
  for (let narrower = room - labelSize; best.length > 1 && narrower > 0; narrower -= labelSize) {
    const rows = filled(parts, narrower);
    if (!fits(rows, narrower)) break;
    best = rows;
  }
  return best;
}

function filled(parts: string[], room: number): string[] {
  const rows: string[] = [];
  for (const piece of parts) {
    const longer = (rows.at(-1) ?? '') + piece;
    if (rows.length > 0 && textWidth(longer.trimEnd()) <= room) rows[rows.length - 1] = longer;
    else rows.push(piece);
  }
  return rows.map((row) => row.trimEnd());
}

const opening = '(（《「『【“';
const closing = ')）》」』】”，。、；：？！,.;:?!%';

// What stays on one line: words with the space after them; Chinese may break between any two characters. No piece begins with a mark
// that closes or ends with one that opens, whatever language stands around it.
function pieces(text: string): string[] {
  const found = text.match(/[\u2e80-\uffff]\s*|[^\s\u2e80-\uffff]+\s*|\s+/g) ?? [];
  const kept: string[] = [];
  for (const piece of found) {
    const before = kept.at(-1) ?? '';
    const bound = closing.includes(piece[0]!) || opening.includes(before.at(-1) || ' ');
    if (kept.length > 0 && bound && before === before.trimEnd()) kept[kept.length - 1] = before + piece;
    else kept.push(piece);
  }
  return kept;
}

// The same pieces, but Chinese characters with no mark between them in one.
function clauses(text: string): string[] {
  const kept: string[] = [];
  for (const piece of pieces(text)) {
    const before = kept.at(-1) ?? ' ';
    const within = isWide(before.at(-1)!) && isWide(piece[0]!) && !closing.includes(before.at(-1)!) && !opening.includes(piece[0]!);
    if (within) kept[kept.length - 1] = before + piece;
    else kept.push(piece);
  }
  return kept;
}
