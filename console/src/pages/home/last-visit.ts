/** A visit is over when nothing was opened for this long, in milliseconds. */
const REST = 30 * 60_000;
const LAST = 'assay-last-seen';
const BEFORE = 'assay-visit-before';

/**
 * Remembers in this browser when one was here.
 * @returns when the visit before this one ended; `undefined` at the first
 */
export function visitBefore(now = Date.now()): string | undefined {
  const last = Number(localStorage.getItem(LAST) ?? 0);
  if (last > 0 && now - last > REST) localStorage.setItem(BEFORE, new Date(last).toISOString());
  localStorage.setItem(LAST, String(now));
  return localStorage.getItem(BEFORE) ?? undefined;
}
