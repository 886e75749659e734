/** A visit is over when nothing was opened for this long, in milliseconds. */
const VISIT_TIMEOUT = 30 * 60_000;
const LAST_SEEN_KEY = 'assay-last-seen';
const PREVIOUS_VISIT_KEY = 'assay-visit-before';

/**
 * Remembers in this browser when one was here.
 * @returns when the visit before this one ended; `undefined` at the first
 */
export function previousVisitEnd(now = Date.now()): string | undefined {
  const last = Number(localStorage.getItem(LAST_SEEN_KEY) ?? 0);
  if (last > 0 && now - last > VISIT_TIMEOUT)
    localStorage.setItem(PREVIOUS_VISIT_KEY, new Date(last).toISOString());
  localStorage.setItem(LAST_SEEN_KEY, String(now));
  return localStorage.getItem(PREVIOUS_VISIT_KEY) ?? undefined;
}
