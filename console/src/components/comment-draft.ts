import { useEffect, useState } from 'react';
import { forgetKept, keep, readKept } from './local-draft.ts';

interface Kept {
  text: string;
  /** Whether staff alone are to see it. */
  internal: boolean;
}

export interface KeptComment extends Kept {
  /** Whether it began with what was written before. */
  isRestored: boolean;
  setText: (change: (now: string) => string) => void;
  setInternal: (internal: boolean) => void;
  /** Throws it away: it was sent, or is not wanted. */
  forget: () => void;
}

const NONE: Kept = { text: '', internal: false };

/**
 * A comment that somebody writes, which stays in this browser until it is sent: the list and the page go on with the same.
 * @param who who writes it
 * @param about the vulnerabilities that it is about
 */
export function useKeptComment(who: number, about: readonly number[]): KeptComment {
  const key = `${who}-comment-${about.toSorted((one, other) => one - other).join('-')}`;
  const [first] = useState(() => readKept<Kept>(key, ({ text }) => typeof text === 'string'));
  const [kept, setKept] = useState(first ?? NONE);
  const [isRestored, setRestored] = useState(first !== undefined);
  useEffect(() => {
    if (kept.text.trim() === '') forgetKept(key);
    else keep(key, kept);
  }, [key, kept]);
  return {
    ...kept,
    isRestored,
    setText: (change) => setKept((now) => ({ ...now, text: change(now.text) })),
    setInternal: (internal) => setKept((now) => ({ ...now, internal })),
    forget() {
      forgetKept(key);
      setRestored(false);
      setKept(NONE);
    },
  };
}
