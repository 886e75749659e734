import { useEffect, useState } from 'react';
import { clearDraft, saveDraft, loadDraft } from './local-draft.ts';

interface CommentText {
  text: string;
  /** Whether staff alone are to see it. */
  internal: boolean;
}

export interface CommentDraft extends CommentText {
  /** Whether it began with what was written before. */
  isRestored: boolean;
  setText: (change: (now: string) => string) => void;
  setInternal: (internal: boolean) => void;
  /** Throws it away: it was sent, or is not wanted. */
  clear: () => void;
}

const EMPTY: CommentText = { text: '', internal: false };

/**
 * A comment that somebody writes, which stays in this browser until it is sent: the list and the page go on with the same.
 * @param who who writes it
 * @param about the vulnerabilities that it is about
 */
export function useCommentDraft(who: number, about: readonly number[]): CommentDraft {
  const key = `${who}-comment-${about.toSorted((one, other) => one - other).join('-')}`;
  const [first] = useState(() => loadDraft<CommentText>(key, ({ text }) => typeof text === 'string'));
  const [kept, setKept] = useState(first ?? EMPTY);
  const [isRestored, setRestored] = useState(first !== undefined);
  useEffect(() => {
    if (kept.text.trim() === '') clearDraft(key);
    else saveDraft(key, kept);
  }, [key, kept]);
  return {
    ...kept,
    isRestored,
    setText: (change) => setKept((now) => ({ ...now, text: change(now.text) })),
    setInternal: (internal) => setKept((now) => ({ ...now, internal })),
    clear() {
      clearDraft(key);
      setRestored(false);
      setKept(EMPTY);
    },
  };
}
