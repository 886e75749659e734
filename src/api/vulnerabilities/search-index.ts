import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '../../domain/shared/errors.ts';

/** Milliseconds between checks of the search index, and the timeout of all checks. */
const [POLL_INTERVAL, MAX_WAIT] = [100, 5_000];

/**
 * Waits until a search finds what imports that have ended added, so that an update by a search misses none.
 * @param count returns how many vulnerabilities it would miss
 * @param maxWait milliseconds
 * @throws DomainError `conflict` if that takes longer
 */
export async function waitForSearchIndex(count: () => Promise<number>, maxWait = MAX_WAIT): Promise<void> {
  for (let waited = 0; ; waited += POLL_INTERVAL) {
    const left = await count();
    if (left === 0) return;
    if (waited >= maxWait) throw new DomainError('search-index-behind', { count: left });
    await delay(POLL_INTERVAL);
  }
}
