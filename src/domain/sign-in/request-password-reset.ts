import { networkPrefix } from '../../auth/ip-addresses.ts';
import type { Transaction } from '../../db/database.ts';
import { addJob } from '../shared/jobs.ts';

export const RESET_MAIL = 'reset-mail';

/** Queued mails, requested from one address and in total. */
const MAX_QUEUED = { perQuotaKey: 20, total: 1_000 };

/** A request for a reset link, for an account that may not exist. */
export interface PasswordResetRequest {
  email: string;
  /** The address and time of the request; milliseconds since 1970. */
  address: string;
  at: number;
  requestId: string;
}

/**
 * Queues a reset mail without looking up the account, so that timing does not reveal whether it exists.
 * @returns false when too many mails are queued
 */
export async function queueResetMail(tx: Transaction, request: PasswordResetRequest): Promise<boolean> {
  return addJob(tx, RESET_MAIL, request, request.at, {
    quotaKey: networkPrefix(request.address),
    ...MAX_QUEUED,
  });
}
