import type { Attribution } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { recordEvent } from '../audit/record-event.ts';
import { type AttemptKey, type AttemptLimit, lockAttempts, recordAttempt } from './attempt-limits.ts';
import { DomainError } from './errors.ts';

const HOUR = 3_600_000;
/** How often an account, and an organization, may be told of something that it cannot see, until the next hour. */
export const MAX_BY_ACCOUNT = 20;
export const MAX_BY_ORGANIZATION = 100;

/** What a conflict may tell of: that an address has an account elsewhere, or that an asset has a location. */
type Discovered = 'email' | 'location';

interface Place {
  discovered: Discovered;
  organization: { id: number; uid: string };
}

/**
 * Locks the limits until the transaction ends, so that concurrent requests cannot exceed them. Call it before looking
 * for what may exist. The command line has no limits, as its user can read the database.
 * @throws DomainError `rate-limited` after too many discoveries
 */
export async function requireDiscoveriesLeft(tx: Transaction, by: Attribution, place: Place): Promise<void> {
  for (const [key, limit] of limitsOf(by, place)) {
    const retryAfter = await lockAttempts(tx, key, limit, by.now);
    if (retryAfter !== undefined)
      throw new DomainError('rate-limited', {
        code: 'too-many-discoveries',
        params: { what: place.discovered, retryAfter },
      });
  }
}

/**
 * Counts a discovery and records it in the audit log. The caller has to commit it with the refusal.
 * @param value the address or location that exists
 */
export async function recordDiscovery(
  tx: Transaction,
  by: Attribution,
  place: Place,
  value: string,
): Promise<void> {
  for (const [key, limit] of limitsOf(by, place)) await recordAttempt(tx, key, limit, by.now);
  const { discovered, organization } = place;
  await recordEvent(tx, by, {
    action: discovered === 'email' ? 'invitation.refuse' : 'location.refuse',
    object: ['organization', organization.uid],
    organizationId: organization.id,
    before: null,
    after: { [discovered]: value },
  });
}

function limitsOf(
  { actor: { userId } }: Attribution,
  { discovered, organization: { id } }: Place,
): [AttemptKey, AttemptLimit][] {
  if (userId === null) return [];
  return [
    [
      { subject: `${discovered} account ${userId}`, address: '' },
      { max: MAX_BY_ACCOUNT, window: HOUR },
    ],
    [
      { subject: `${discovered} organization ${id}`, address: '' },
      { max: MAX_BY_ORGANIZATION, window: HOUR },
    ],
  ];
}
