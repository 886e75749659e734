import type { Reader } from '../db/engine.ts';

/**
 * @returns whether a sign-in with a password is only half of one: the account has a second factor, or its organization
 *   wants every account to have one
 */
export async function needsSecondFactor(db: Reader, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .leftJoin('organizations', 'organizations.id', 'users.organization_id')
    .select((eb) => [
      'organizations.require_second_factor as required',
      eb
        .exists(
          eb
            .selectFrom('totp_secrets')
            .select('totp_secrets.user_id')
            .whereRef('totp_secrets.user_id', '=', 'users.id')
            .where('totp_secrets.confirmed_at', 'is not', null),
        )
        .as('totp'),
      eb
        .exists(eb.selectFrom('passkeys').select('passkeys.id').whereRef('passkeys.user_id', '=', 'users.id'))
        .as('passkey'),
    ])
    .where('users.id', '=', userId)
    .executeTakeFirst();
  return row !== undefined && (row.required === 1 || Boolean(row.totp) || Boolean(row.passkey));
}
