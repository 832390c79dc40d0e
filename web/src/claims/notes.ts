// What is told of a claim when it is opened, fetched when the first one is.
import type { ClaimInfo } from 'linearmem';

export interface ClaimNotes extends Pick<ClaimInfo, 'statement' | 'source' | 'inputs'> {
  formula?: string; // KaTeX's HTML, made when the page was built
}

export type AllNotes = Record<string, ClaimNotes>;

export async function claimNotes(): Promise<AllNotes> {
  return (await import('virtual:linearmem/claim-notes')).notes;
}
