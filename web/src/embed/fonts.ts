// The face of the knobs' symbols. A shadow root's @font-face is ignored, so it is added to the document, once; without it a serif italic serves.
import { fontAddress } from 'virtual:linearmem/font';

let asked = false;

export function useFonts(): void {
  if (asked) return;
  asked = true;
  const face = new FontFace('KaTeX_Math', `url(${JSON.stringify(fontAddress())})`, { style: 'italic', weight: '400' });
  document.fonts.add(face);
  void face.load().catch(() => document.fonts.delete(face));
}
