// What is told of a claim when it is opened, fetched when the first one is. The module's own words are English; in another language
// the page has its words for them.
import type { ClaimInfo } from 'linearmem';
import type { Language } from '../texts/languages.ts';

export interface ClaimNotes extends Pick<ClaimInfo, 'statement' | 'source' | 'inputs'> {
  formula?: string; // KaTeX's HTML, made when the page was built
}

export type AllNotes = Record<string, ClaimNotes>;

// By the module's words; what is not in here is a formula or a name and stands as it is.
export interface ClaimWords {
  quantities: Record<string, string>;
  inputs: Record<string, string>; // by claim
  sources: Record<string, string>;
}

export async function claimNotes(): Promise<AllNotes> {
  return (await import('virtual:linearmem/claim-notes')).notes;
}

export async function claimWords(language: Language): Promise<ClaimWords> {
  return language === 'zh' ? await import('../texts/zh/claim_notes.ts') : { quantities: {}, inputs: {}, sources: {} };
}
