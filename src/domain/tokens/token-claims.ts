import type { Principal } from '../../auth/callers.ts';
import type { Scope } from '../../auth/scopes.ts';
import type { ReadConnection } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { accountOf, RIGHTS_COLUMNS, type RightsRow } from '../shared/account-rights.ts';

export interface TokenAccount extends Principal {
  uid: string;
  /** The uid of the organization; `null` for staff. */
  organization: string | null;
}

const accountById = prepareQuery<{ id: number }, RightsRow & { uid: string; organization: string | null }>(
  (db, p) =>
    db
      .selectFrom('users')
      .leftJoin('organizations', 'organizations.id', 'users.organization_id')
      .select(['users.uid', 'organizations.uid as organization', ...RIGHTS_COLUMNS])
      .where('users.id', '=', p.id)
      .where('users.banned_at', 'is', null),
);

/** @returns `undefined` for an account that is banned or deleted */
export async function tokenAccount(db: ReadConnection, userId: number): Promise<TokenAccount | undefined> {
  const [row] = await accountById(db, { id: userId });
  return row && { uid: row.uid, organization: row.organization, ...accountOf(row) };
}

/** @returns the claims of a JWT access token (docs/decided.md, section 10; RFC 9068, section 2.2) */
export function claimsOf(
  account: TokenAccount,
  { id, clientId, scopes }: { id: string; clientId: string; scopes: readonly Scope[] },
) {
  return {
    jti: id,
    sub: account.uid,
    client_id: clientId,
    scope: scopes.join(' '),
    ...(account.organization === null ? {} : { org: account.organization }),
    admin: account.admin,
    staff: account.staff,
  };
}
