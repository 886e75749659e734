import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { recentIds, rememberId } from './recently-opened.ts';

const KEY = 'assay-recent-findings';
const PAGE_OF_FINDING = /^\/vulnerabilities\/(\d+)$/;

/** @returns the ids of the findings whose pages were last opened in this browser, latest first */
export const recentFindings = (): readonly number[] => recentIds(KEY).map(Number);

/** Remembers the findings whose pages are opened. */
export function useRememberFindings(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onResolved', ({ toLocation: { pathname } }) => {
        const id = PAGE_OF_FINDING.exec(pathname)?.[1];
        if (id !== undefined) rememberId(KEY, id);
      }),
    [router],
  );
}
