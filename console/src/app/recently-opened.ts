const MAX_REMEMBERED = 20;

/** @returns the ids that were last remembered in this browser under a key, latest first */
export const recentIds = (key: string): readonly string[] =>
  (localStorage.getItem(key) ?? '').split(' ').filter(Boolean);

/** Remembers an id as the latest. */
export function rememberId(key: string, id: string): void {
  const ids = [id, ...recentIds(key).filter((other) => other !== id)];
  localStorage.setItem(key, ids.slice(0, MAX_REMEMBERED).join(' '));
}
