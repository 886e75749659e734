import { useEffect, useState } from 'react';
import { clearDraft, saveDraft, loadDraft } from './local-draft.ts';

interface CommentText {
  text: string;
  /** Whether only staff see it. */
  internal: boolean;
}

export interface CommentDraft extends CommentText {
  /** Whether it was restored from an earlier visit. */
  isRestored: boolean;
  setText: (change: (now: string) => string) => void;
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
    setText: (change) => setDraft((now) => ({ ...now, text: change(now.text) })),
    setInternal: (internal) => setDraft((now) => ({ ...now, internal })),
    clear() {
      clearDraft(key);
      setRestored(false);
      setDraft(EMPTY);
    },
  };
}
