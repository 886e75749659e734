import { notifyError } from './notifications.tsx';
import { commonMessages } from './messages.ts';

const storageKey = (key: string) => `assay-draft-${key}`;

/** Loads a draft from this browser; undefined if there is none or it has another shape. */
export function loadDraft<Draft>(
  key: string,
  isDraft: (draft: Partial<Draft>) => boolean,
): Draft | undefined {
  try {
    const draft = JSON.parse(localStorage.getItem(storageKey(key)) ?? 'null') as Draft | null;
    return draft === null || !isDraft(draft) ? undefined : draft;
  } catch {
    return undefined;
  }
}

/** Saves a draft in this browser. */
export function saveDraft(key: string, draft: object): void {
  try {
    localStorage.setItem(storageKey(key), JSON.stringify(draft));
  } catch (error) {
    notifyError(commonMessages.draftTooLarge, error);
  }
}

export function clearDraft(key: string): void {
  localStorage.removeItem(storageKey(key));
}
