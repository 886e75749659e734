import { AssayError } from '#client';
import { emailKey } from '../auth/email-addresses.ts';
import type { AnyClient } from './place.ts';
import { noUser } from './refusal.ts';

/** A user, as operations 52 and 53 tell of them. */
interface Named {
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
export async function personId(client: AnyClient, who: string): Promise<string> {
  if (/^\d+$/.test(who)) return who;
  const key = emailKey(who);
  const isMeant = ({ uid, email }: Named) => uid === who || emailKey(email) === key;
  const own = await client.GET('/v1/users/whoami', {}).catch(ifForbidden);
  const self = own?.data as unknown as Named | undefined;
  if (self !== undefined && isMeant(self)) return String(self.id);
  const search = who.includes('@') ? { 'filter[search]': who } : {};
  try {
    // Who is banned is listed where that is asked for alone.
    for (const banned of [false, true]) {
      const query = { ...search, 'filter[banned]': banned, 'page[size]': 200 };
      for await (const row of client.rows('/v1/users', { params: { query } })) {
        const user = row as unknown as Named;
        if (isMeant(user)) return String(user.id);
      }
    }
  } catch (error) {
    ifForbidden(error);
  }
  throw noUser(who);
}

/** Who may not ask finds nobody. */
function ifForbidden(error: unknown): undefined {
  if (error instanceof AssayError && error.status === 403) return undefined;
  throw error;
}
