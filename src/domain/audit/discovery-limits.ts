import type { ChangeContext } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { recordEvent } from './record-event.ts';
import { type AttemptKey, type AttemptLimit, lockAttempts, recordAttempt } from '../shared/attempt-limits.ts';
import { DomainError } from '../shared/errors.ts';

const HOUR = 3_600_000;
/** How many invisible objects an account, and an organization, may discover in an hour. */
export const MAX_BY_ACCOUNT = 20;
export const MAX_BY_ORGANIZATION = 100;

/** Something that a conflict reveals: an account with an address, or a hidden asset at a location. */
export interface Discovery {
  kind: 'email' | 'location';
  /** The organization in which the caller tried to create or change something. */
  organizationId: number;
}

/**
 * Locks the limits until the transaction ends, so that concurrent requests cannot exceed them. Call it before
 * looking up objects that may exist, and for several organizations in ascending order. The command line has no limits,
 * as its user can read the database.
 * @throws DomainError `rate-limited` after too many discoveries
 */
export async function requireDiscoveriesLeft(
  tx: Transaction,
  by: ChangeContext,
  discovery: Discovery,
): Promise<void> {
  for (const [key, limit] of limitsOf(by, discovery)) {
    const retryAfter = await lockAttempts(tx, key, limit, by.now);
    if (retryAfter !== undefined)
      throw new DomainError('too-many-discoveries', { kind: discovery.kind, retryAfter });
  }
}

/**
 * Counts a discovery and records it in the audit log. The caller has to commit it with the refusal.
 * @param value the address or location that exists
 */
export async function recordDiscovery(
  tx: Transaction,
  by: ChangeContext,
  discovery: Discovery,
  value: string,
): Promise<void> {
  for (const [key, limit] of limitsOf(by, discovery)) await recordAttempt(tx, key, limit, by.now);
  const { kind, organizationId } = discovery;
  const { uid } = await tx
    .selectFrom('organizations')
    .select('uid')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  await recordEvent(tx, by, {
    action: kind === 'email' ? 'invitation.refuse' : 'location.refuse',
    object: ['organization', uid],
    organizationId,
    before: null,
    after: { [kind]: value },
  });
}

function limitsOf(
  { actor: { userId } }: ChangeContext,
  { kind, organizationId }: Discovery,
): [AttemptKey, AttemptLimit][] {
  if (userId === null) return [];
  return [
    [
      { subject: `${kind} account ${userId}`, address: '' },
      { max: MAX_BY_ACCOUNT, window: HOUR },
    ],
    [
      { subject: `${kind} organization ${organizationId}`, address: '' },
      { max: MAX_BY_ORGANIZATION, window: HOUR },
    ],
  ];
}
