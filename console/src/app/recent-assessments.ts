import { useEffect } from 'react';
import { recentIds, rememberId } from './recently-opened.ts';

const KEY = 'assay-recent-assessments';

/** @returns the uids of the assessments that were last opened in this browser, latest first */
export const recentAssessments = (): readonly string[] => recentIds(KEY);

/** Remembers that an assessment is opened. */
export function useRememberAssessment(uid: string): void {
  useEffect(() => rememberId(KEY, uid), [uid]);
}
