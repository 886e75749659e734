import { useEffect } from 'react';

const KEY = 'assay-recent-assessments';
const MAX_REMEMBERED = 20;

/** @returns the uids of the assessments that were last opened in this browser, latest first */
export function recentAssessments(): readonly string[] {
  return (localStorage.getItem(KEY) ?? '').split(' ').filter(Boolean);
}

/** Remembers that an assessment is opened. */
export function useRememberAssessment(uid: string): void {
  useEffect(() => {
    const uids = [uid, ...recentAssessments().filter((other) => other !== uid)];
    localStorage.setItem(KEY, uids.slice(0, MAX_REMEMBERED).join(' '));
  }, [uid]);
}
