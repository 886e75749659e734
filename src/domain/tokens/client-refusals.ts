import type { Actor } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { recordChange } from '../shared/audit.ts';

/** Writes down that someone called themselves this client and had the wrong secret. */
export async function recordRefusedSecret(
  tx: Transaction,
  actor: Actor,
  clientId: string,
  now: number,
): Promise<void> {
  await recordChange(tx, actor, {
    at: now,
    action: 'client.refuse',
    object: ['client', clientId],
    organizationId: null,
    before: null,
    after: null,
  });
}
