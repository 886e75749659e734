import type { ChangeContext } from '../auth/callers.ts';
import type { Transaction } from '../db/database.ts';
import {
  createOAuthClient,
  DOCS_CLIENT,
  DOCS_REDIRECT,
  renewClientSecret,
} from '../domain/tokens/oauth-clients.ts';
import type { DemoClients } from './manifest.ts';

const NAME = 'Demo script';
/** Loopback redirect, on any port. */
const REDIRECT = 'http://127.0.0.1/callback';

/**
 * Creates the confidential client of the demo data, or renews its secret if it exists.
 * @param staffId id of the user that it acts as
 * @param clientBaseUrl base URL of the deployment
 */
export async function renewDemoClients(
  tx: Transaction,
  by: ChangeContext,
  staffId: number,
  clientBaseUrl: string,
): Promise<DemoClients> {
  const existing = await tx
    .selectFrom('oauth_clients')
    .select('id')
    .where('user_id', '=', staffId)
    .where('name', '=', NAME)
    .where('kind', '=', 'confidential')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  return {
    implicit: { client_id: DOCS_CLIENT, redirect_uri: clientBaseUrl + DOCS_REDIRECT },
    confidential:
      existing === undefined
        ? await newClient(tx, by, staffId)
        : { client_id: existing.id, client_secret: await renewClientSecret(tx, by, existing.id) },
  };
}

async function newClient(
  tx: Transaction,
  by: ChangeContext,
  staffId: number,
): Promise<DemoClients['confidential']> {
  const { id, secret } = await createOAuthClient(tx, by, {
    name: NAME,
    kind: 'confidential',
    redirectUris: [REDIRECT],
    implicit: false,
    userId: staffId,
  });
  return { client_id: id, client_secret: secret ?? '' };
}
