import { notifyError } from './notifications.tsx';

const storageKey = (key: string) => `assay-draft-${key}`;

/** @returns what this browser keeps of what somebody wrote, and `undefined` where that is none of what is asked for */
export function loadDraft<Kept>(key: string, isKept: (kept: Partial<Kept>) => boolean): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(storageKey(key)) ?? 'null') as Kept | null;
    return kept === null || !isKept(kept) ? undefined : kept;
  } catch {
    return undefined;
  }
}

/** Keeps what somebody writes in this browser, until it is forgotten. */
export function saveDraft(key: string, kept: object): void {
  try {
    localStorage.setItem(storageKey(key), JSON.stringify(kept));
  } catch (error) {
    notifyError('This draft is too long for this browser to keep: save it before you leave', error);
  }
}

export function clearDraft(key: string): void {
  localStorage.removeItem(storageKey(key));
}
