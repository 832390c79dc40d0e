// How wide words come out in a figure, and how they are broken to fit: SVG does not wrap text by itself.
const labelSize = 14; // px, as in figure.css

export const lineHeight = 18; // px

export function textWidth(text: string): number {
  return [...text].reduce((sum, letter) => sum + (isWide(letter) ? 1 : 0.58), 0) * labelSize;
}

function isWide(letter: string): boolean {
  return letter > '\u2e80';
}

export function wrapped(text: string, room: number): string[] {
  const rows: string[] = [];
  for (const piece of pieces(text)) {
    const longer = (rows.at(-1) ?? '') + piece;
    if (rows.length > 0 && textWidth(longer.trimEnd()) <= room) rows[rows.length - 1] = longer;
    else rows.push(piece);
  }
  return rows.map((row) => row.trimEnd());
}

// Words with the space after them; Chinese may break between any two characters, but not before a mark that closes.
function pieces(text: string): string[] {
  return text.match(/[\u2e80-\uffff][\uff00-\uff0f\uff1a-\uff1f\u3001\u3002\u300b\u300d\u300f\u3011]*\s*|[^\s\u2e80-\uffff]+\s*|\s+/g) ?? [];
}
