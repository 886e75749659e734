/** Milliseconds without opening the page after which a visit has ended. */
const VISIT_TIMEOUT = 30 * 60_000;
const LAST_SEEN_KEY = 'assay-last-seen';
const PREVIOUS_VISIT_KEY = 'assay-visit-before';

/** Records this visit in the browser. @returns when the previous visit ended; undefined on the first */
export function previousVisitEnd(now = Date.now()): string | undefined {
  const last = Number(localStorage.getItem(LAST_SEEN_KEY) ?? 0);
  if (last > 0 && now - last > VISIT_TIMEOUT)
    localStorage.setItem(PREVIOUS_VISIT_KEY, new Date(last).toISOString());
  localStorage.setItem(LAST_SEEN_KEY, String(now));
  return localStorage.getItem(PREVIOUS_VISIT_KEY) ?? undefined;
}
