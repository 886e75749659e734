import { notifyError } from './notifications.ts';
import { commonMessages } from './messages.ts';
import { useEffect, useState } from 'react';

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

interface CommentText {
  text: string;
  /** Whether only staff see it. */
  internal: boolean;
}

interface CommentDraft extends CommentText {
  /** Whether it was restored from an earlier visit. */
  isRestored: boolean;
  setText: (change: (previous: string) => string) => void;
  setInternal: (internal: boolean) => void;
  /** Discards the draft. */
  clear: () => void;
}

const EMPTY: CommentText = { text: '', internal: false };

/**
 * The draft of a comment, saved in this browser until it is posted; the list and the page share it.
 * @param userId its author
 * @param vulnerabilityIds what it comments on
 */
export function useCommentDraft(userId: number, vulnerabilityIds: readonly number[]): CommentDraft {
  const key = `${userId}-comment-${vulnerabilityIds.toSorted((a, b) => a - b).join('-')}`;
  const [stored] = useState(() => loadDraft<CommentText>(key, ({ text }) => typeof text === 'string'));
  const [draft, setDraft] = useState(stored ?? EMPTY);
  const [isRestored, setRestored] = useState(stored !== undefined);
  useEffect(() => {
    if (draft.text.trim() === '') clearDraft(key);
    else saveDraft(key, draft);
  }, [key, draft]);
  return {
    ...draft,
    isRestored,
    setText: (change) => setDraft((previous) => ({ ...previous, text: change(previous.text) })),
    setInternal: (internal) => setDraft((previous) => ({ ...previous, internal })),
    clear() {
      clearDraft(key);
      setRestored(false);
      setDraft(EMPTY);
    },
  };
}
