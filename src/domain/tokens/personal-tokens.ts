import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { firstBlockOutside } from '../../auth/ip-addresses.ts';
import type { Keys } from '../../auth/keys.ts';
import { ALL_SCOPES, coversScope, defaultScopes, isScope } from '../../auth/scopes.ts';
import type { Transaction } from '../../db/database.ts';
import { DomainError, type FieldError, invalidInput } from '../shared/errors.ts';
import { validateName } from '../shared/names.ts';
import type { PartialInput } from '../shared/partial-input.ts';
import { parseTimestamp } from '../shared/time.ts';
import { selectTokens, toUserToken, type UserToken } from './token-list.ts';
import { issueToken, MAX_USER_TOKENS, validateScopesAndAddresses } from './tokens.ts';

/** Absent members default to those of the caller's credential: its scopes without `api_read`, which `api` covers. */
export interface PersonalTokenInput {
  name: string;
  scopes?: readonly string[] | undefined;
  /** Empty for everywhere. */
  allowedAddresses?: readonly string[] | undefined;
  /** ISO 8601. */
  expiresAt?: string | undefined;
}

/** @returns the errors that are found without the database */
export function validatePersonalToken(
  { name, scopes = [], allowedAddresses = [], expiresAt }: PartialInput<PersonalTokenInput>,
  now: number,
): FieldError[] {
  const errors = validateScopesAndAddresses(scopes, allowedAddresses);
  const nameError = name === undefined ? undefined : validateName('name', name);
  if (nameError !== undefined) errors.unshift(nameError);
  if (expiresAt === undefined) return errors;
  const moment = parseTimestamp(expiresAt);
  if (moment === undefined) errors.push({ property: 'expiresAt', code: 'not-a-timestamp', value: expiresAt });
  else if (moment <= now) errors.push({ property: 'expiresAt', code: 'not-in-the-future' });
  return errors;
}

/**
 * Creates a personal access token for the caller, which may do no more than the caller's credential and ends with it.
 * @returns the stored token, and the token itself, which cannot be shown again
 * @throws DomainError `invalid` for the name, a scope, an address or the expiry; `limit-exceeded` when the account has
 *   too many tokens; `forbidden` for rights that the credential lacks, and for the command line, which has no account;
 *   `not-found` when the credential was revoked in the meantime
 */
export async function createPersonalToken(
  tx: Transaction,
  by: ChangeContext<Caller>,
  keys: Keys,
  input: PersonalTokenInput,
): Promise<UserToken & { token: string }> {
  const { actor: caller, now } = by;
  const errors = validatePersonalToken(input, now);
  if (errors.length > 0) throw invalidInput(errors);
  if (caller.userId === null) throw new DomainError('no-account');
  const { bounds } = caller;
  const ownBlocks = bounds.allowedAddresses ?? [];
  const scopes = input.scopes ?? defaultScopes(ALL_SCOPES.filter((scope) => caller.scopes.has(scope)));
  const allowedAddresses = input.allowedAddresses ?? ownBlocks;
  const requested = input.expiresAt === undefined ? undefined : parseTimestamp(input.expiresAt);
  const expiresAt = requested ?? bounds.expiresAt;

  const excessScope = scopes.find((scope) => !isScope(scope) || !coversScope(caller.scopes, scope));
  if (excessScope !== undefined) throw new DomainError('token-lacks-scope', { scope: excessScope });
  if (ownBlocks.length > 0) {
    const excess =
      allowedAddresses.length === 0 ? 'everywhere' : firstBlockOutside(ownBlocks, allowedAddresses);
    if (excess !== undefined) throw new DomainError('token-address-not-allowed', { addresses: excess });
  }
  if (bounds.expiresAt !== null && (expiresAt ?? Infinity) > bounds.expiresAt)
    throw new DomainError('token-expires-earlier');

  const { id, token } = await issueToken(tx, by, keys, {
    userId: caller.userId,
    kind: 'personal',
    name: input.name,
    scopes,
    expiresAt,
    allowedAddresses,
    createdBy: bounds.tokenId,
    atMost: MAX_USER_TOKENS,
  });
  const row = await selectTokens(tx).where('tokens.id', '=', id).executeTakeFirstOrThrow();
  return { ...toUserToken(row), token };
}
