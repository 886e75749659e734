import type { Caller } from '../auth/callers.ts';
import type { Context } from '../context.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OperationAborted } from '../db/database.ts';
import { MemoryBudget, type Reservation } from '../lib/memory-budget.ts';
import { Problem } from './problems.ts';

interface ConcurrencyLimit {
  perAccount: number;
  /** Staff count as one organization. */
  perOrganization: number;
  /** Plural, for the error message. */
  noun: string;
}

/** Maximum number of concurrent uploads and downloads per account and per organization, in each process. */
export const CONCURRENCY_LIMITS = {
  /** Imports and attachments together. */
  upload: { perAccount: 4, perOrganization: 32, noun: 'uploads' },
  /** Exports and event streams together. */
  download: { perAccount: 4, perOrganization: 32, noun: 'downloads' },
  /** High, because a page may show many images. */
  attachment: { perAccount: 32, perOrganization: 128, noun: 'downloads of attachments' },
} as const satisfies Record<string, ConcurrencyLimit>;

type LimitName = keyof typeof CONCURRENCY_LIMITS;

const RETRY_AFTER_SECONDS = 5;

const running = new WeakMap<Context, Map<string, number>>();

/**
 * Counts an upload or a download that begins.
 * @returns a function that ends it; calling it again does nothing
 * @throws Problem `rate-limited` at the limit of the account or of its organization
 */
export function acquireSlot(
  context: Context,
  { userId, organizationId }: Pick<Caller, 'userId' | 'organizationId'>,
  name: LimitName,
): () => void {
  // The operator has no account.
  if (userId === null) return () => undefined;
  const { perAccount, perOrganization, noun } = CONCURRENCY_LIMITS[name];
  const counts = running.get(context) ?? new Map<string, number>();
  running.set(context, counts);
  const slots = [
    [`${name} account ${userId}`, perAccount, 'This account'],
    [`${name} organization ${organizationId ?? 'staff'}`, perOrganization, 'Your organization'],
  ] as const;
  for (const [key, max, owner] of slots)
    if ((counts.get(key) ?? 0) >= max)
      throw new Problem(
        'rate-limited',
        `${owner} already has ${max} ${noun} running. Wait for one to finish.`,
        { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
      );
  for (const [key] of slots) counts.set(key, (counts.get(key) ?? 0) + 1);
  let hasEnded = false;
  return () => {
    if (hasEnded) return;
    hasEnded = true;
    for (const [key] of slots) {
      const remaining = (counts.get(key) ?? 1) - 1;
      if (remaining === 0) counts.delete(key);
      else counts.set(key, remaining);
    }
  };
}

const budgets = new WeakMap<Context, MemoryBudget>();

/** @returns the budget that bodies and lists of all requests share */
export function memoryBudgetOf(context: Context): MemoryBudget {
  let budget = budgets.get(context);
  if (budget === undefined) {
    const total = context.config.requestMemory * 1024 ** 2;
    budget = new MemoryBudget({ total, perOrganization: total / 4, perAccount: total / 16 });
    budgets.set(context, budget);
  }
  return budget;
}

/**
 * Waits for memory, which is returned once the response has been sent or its connection has closed.
 * @throws OperationAborted if the request has ended meanwhile
 */
export async function reserveMemory(
  context: Context,
  { caller, abortState }: Pick<FastifyRequest, 'abortState' | 'caller'>,
  { raw }: FastifyReply,
  bytes: number,
): Promise<Pick<Reservation, 'shrinkTo'>> {
  // Accounts are bounded; the operator has none.
  if (caller === null || caller.userId === null) return { shrinkTo: () => undefined };
  const { userId, organizationId } = caller;
  const owner = { account: `account ${userId}`, organization: `organization ${organizationId ?? 'staff'}` };
  const hasEnded = () => raw.closed || abortState?.aborted === true;
  const reservation = await memoryBudgetOf(context).acquire(owner, bytes, hasEnded);
  if (reservation === undefined || hasEnded()) {
    reservation?.release();
    throw new OperationAborted('The request was aborted.');
  }
  raw.once('finish', reservation.release).once('close', reservation.release);
  return reservation;
}
