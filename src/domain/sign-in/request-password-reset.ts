import { networkPrefix } from '../../auth/ip-addresses.ts';
import type { Transaction } from '../../db/engine.ts';
import { addJob } from '../shared/jobs.ts';

/** The kind of job that sends a link for a new password. */
export const RESET_MAIL = 'reset-mail';

/** Mails that wait: of those who ask from one address, and in all. */
const MAX_QUEUED = { perQuotaKey: 20, total: 1_000 };

/** Somebody asks for a link to an account, which there may be. */
export interface PasswordResetRequest {
  email: string;
  /** Where the request came from, and when, in milliseconds since 1970. */
  address: string;
  at: number;
  requestId: string;
}

/**
 * Has a link sent, without a look whether there is such an account: whoever asks learns nothing by how long it takes.
 * @returns whether it will be looked into; not when too many wait
 */
export async function queueResetMail(tx: Transaction, request: PasswordResetRequest): Promise<boolean> {
  return addJob(tx, RESET_MAIL, request, request.at, {
    quotaKey: networkPrefix(request.address),
    ...MAX_QUEUED,
  });
}
