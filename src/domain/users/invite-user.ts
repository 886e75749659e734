import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Account, type Attribution, isAdminOf } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { inList, normalizeName } from '../../db/dialect-sql.ts';
import type { Tables } from '../../db/schema.ts';
import { organizationById, organizationByUid } from '../organizations/organizations.ts';
import { DomainError, invalidInput, notFound } from '../shared/errors.ts';
import { createUser, type CreatedUser, type NewUser, validateUserFields } from './users.ts';

/** A user as an admin or staff manage them. */
export interface ManagedUser {
  id: number;
  uid: string;
  email: string;
  name: string | null;
  /** The name of their organization. */
  organization: string;
  admin: boolean;
  state: 'active' | 'invited' | 'banned';
  /** Whether they have an authenticator app or a passkey. */
  secondFactor: boolean;
  createdAt: number;
  /** The last use of a session or token; `null` for never. */
  lastSeenAt: number | null;
}

export function canManageUsers({ admin, staff }: Account): boolean {
  return admin || staff;
}

/**
 * An admin looks after the users of their organization, staff after the client users of the organizations that they
 * reach.
 * @param search what a name or an address has in it, without regard to case; empty for all
 * @param page counted from 1
 * @returns a page of them by address, and how many there are
 */
export async function listManagedUsers(
  db: ReadConnection,
  account: Account,
  { search, page, perPage }: { search: string; page: number; perPage: number },
): Promise<{ people: ManagedUser[]; total: number }> {
  const wanted = db.selectFrom('users').where((eb) => isManaged(db, eb, account, search));
  const { count } = await wanted.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow();
  // The rows of the page first, as what is told of each is looked up for these alone.
  const rows = await wanted
    .select('users.id')
    .orderBy('users.email_key')
    .limit(perPage)
    .offset((page - 1) * perPage)
    .execute();
  const ids = rows.map(({ id }) => id);
  const people = await selectManagedUsers(db)
    .where((eb) => inList(db, eb.ref('users.id'), ids))
    .orderBy('users.email_key')
    .execute();
  return { people: people.map(toManagedUser), total: Number(count) };
}

/**
 * @returns whom someone looks after, by uid
 * @throws Failure `missing` when there is nobody, or they are not theirs to look after, which looks the same
 */
export async function managedUserByUid(
  db: ReadConnection,
  account: Account,
  uid: string,
): Promise<ManagedUser> {
  const row = await selectManagedUsers(db)
    .where('users.uid', '=', uid)
    .where((eb) => isManaged(db, eb, account, ''))
    .executeTakeFirst();
  if (row === undefined) throw notFound('user');
  return toManagedUser(row);
}

/**
 * Invites a user: admins into their organization, staff into one that they can access.
 * @param input `organization` is a uid, which staff have to give and admins may
 * @throws DomainError `forbidden` unless the caller is an admin or staff, and as `createUser` does
 */
export async function inviteUser(
  tx: Transaction,
  act: Attribution,
  account: Account,
  input: Pick<NewUser, 'email' | 'name' | 'admin' | 'organization' | 'assessments'>,
): Promise<CreatedUser & { invitedAt: number }> {
  validateUserFields(input);
  if (!canManageUsers(account)) throw new DomainError('forbidden', { code: 'user-invite-admins-only' });
  if (account.staff && input.organization === undefined)
    throw invalidInput({ property: 'organization', code: 'required' });
  const organization = account.staff
    ? await organizationByUid(tx, input.organization ?? '')
    : await organizationById(tx, account.organizationId ?? -1);
  if (
    organization === undefined ||
    !isAdminOf(account, organization.id) ||
    (input.organization ?? organization.uid) !== organization.uid
  )
    throw invalidInput({
      property: 'organization',
      code: 'organization-not-managed',
      value: input.organization,
    });
  const created = await createUser(tx, act, { ...input, organization: organization.uid });
  return { ...created, invitedAt: act.now };
}

function isManaged(
  db: ReadConnection,
  eb: ExpressionBuilder<Tables, 'users'>,
  account: Account,
  search: string,
): Expression<SqlBool> {
  const conditions: Expression<SqlBool>[] = [];
  if (!canManageUsers(account)) conditions.push(eb.lit(false));
  else if (!account.staff) conditions.push(eb('users.organization_id', '=', account.organizationId));
  else if (account.assignedOrganizations === null)
    conditions.push(eb('users.organization_id', 'is not', null));
  else conditions.push(inList(db, eb.ref('users.organization_id'), account.assignedOrganizations));
  const key = normalizeName(search);
  if (key !== '') {
    const pattern = `%${key.replaceAll(/[%_!]/g, '!$&')}%`;
    conditions.push(
      eb.or([like(eb.ref('users.email_key'), pattern), like(eb.ref('users.name_key'), pattern)]),
    );
  }
  return eb.and(conditions);
}

/** @param pattern with `!` before what stands for itself */
function like(column: Expression<string | null>, pattern: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${column} like ${pattern} escape '!'`;
}

function selectManagedUsers(db: ReadConnection) {
  return db
    .selectFrom('users')
    .innerJoin('organizations', 'organizations.id', 'users.organization_id')
    .select([
      'users.id',
      'users.uid',
      'users.email',
      'users.name',
      'organizations.name as organization',
      'users.admin',
      'users.accepted_at',
      'users.banned_at',
      'users.created_at',
      'users.last_seen_at',
    ])
    .select((eb) => [
      eb
        .selectFrom('tokens')
        .select((of) => of.fn.max('tokens.last_used_at').as('at'))
        .whereRef('tokens.user_id', '=', 'users.id')
        .as('token_used_at'),
      eb
        .exists(eb.selectFrom('passkeys').select('passkeys.id').whereRef('passkeys.user_id', '=', 'users.id'))
        .as('passkey'),
      eb
        .exists(
          eb
            .selectFrom('totp_secrets')
            .select('totp_secrets.user_id')
            .whereRef('totp_secrets.user_id', '=', 'users.id'),
        )
        .as('totp'),
    ]);
}

type ManagedUserRow = Awaited<ReturnType<ReturnType<typeof selectManagedUsers>['executeTakeFirstOrThrow']>>;

function toManagedUser(row: ManagedUserRow): ManagedUser {
  const { id, uid, email, name, organization } = row;
  const seen = [row.last_seen_at, row.token_used_at].filter((at) => at !== null).map(Number);
  return {
    id,
    uid,
    email,
    name,
    organization,
    admin: row.admin === 1,
    state: row.banned_at !== null ? 'banned' : row.accepted_at === null ? 'invited' : 'active',
    secondFactor: Boolean(row.passkey) || Boolean(row.totp),
    createdAt: row.created_at,
    lastSeenAt: seen.length === 0 ? null : Math.max(...seen),
  };
}
