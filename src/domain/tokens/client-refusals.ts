import type { Act } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { recordChange } from '../shared/audit.ts';

/** Writes down that someone called themselves this client and had the wrong secret. */
export async function recordRefusedSecret(tx: Transaction, act: Act, clientId: string): Promise<void> {
  await recordChange(tx, act, {
    action: 'client.refuse',
    object: ['client', clientId],
    organizationId: null,
    before: null,
    after: null,
  });
}
