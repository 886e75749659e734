import { AssayError } from '#client';
import { normalizeEmail } from '../auth/email-addresses.ts';
import type { AnyClient } from './command-target.ts';
import { userNotFound } from './errors.ts';

/** A user, as operations 52 and 53 tell of them. */
interface UserRow {
  id: number;
  uid: string;
  email: string;
}

/**
 * Finds a person through the operations, as `requireUser` does in the database.
 * @param who an e-mail address, an id or a uid
 * @returns their id
 * @throws Refusal that says where to look, when there is none whom the caller reaches
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
    // Who is banned is listed where that is asked for alone.
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

/** Who may not ask finds nobody. */
function undefinedIfForbidden(error: unknown): undefined {
  if (error instanceof AssayError && error.status === 403) return undefined;
  throw error;
}
