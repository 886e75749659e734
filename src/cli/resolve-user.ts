import { AssayError } from '#client';
import { normalizeEmail } from '../auth/email-addresses.ts';
import type { AnyClient } from './command-target.ts';
import { userNotFound } from './errors.ts';

/** A user of operations 52 and 53. */
interface UserRow {
  id: number;
  uid: string;
  email: string;
}

/**
 * Returns the id of a user, found through the API.
 * @param who email address, id or uid
 * @throws CliError if the user does not exist or is not visible to the caller
 */
export async function resolveUserId(client: AnyClient, who: string): Promise<string> {
  if (/^\d+$/.test(who)) return who;
  const key = normalizeEmail(who);
  const isMeant = ({ uid, email }: UserRow) => uid === who || normalizeEmail(email) === key;
  const own = await client.GET('/v1/users/whoami', {}).catch(undefinedIfForbidden);
  const self = own?.data as unknown as UserRow | undefined;
  if (self !== undefined && isMeant(self)) return String(self.id);
  const search = who.includes('@') ? { 'filter[search]': who } : {};
  try {
    // Banned users are listed separately.
    for (const banned of [false, true]) {
      const query = { ...search, 'filter[banned]': banned, 'page[size]': 200 };
      for await (const row of client.rows('/v1/users', { params: { query } })) {
        const user = row as unknown as UserRow;
        if (isMeant(user)) return String(user.id);
      }
    }
  } catch (error) {
    undefinedIfForbidden(error);
  }
  throw userNotFound(who);
}

function undefinedIfForbidden(error: unknown): undefined {
  if (error instanceof AssayError && error.status === 403) return undefined;
  throw error;
}
