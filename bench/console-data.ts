import { hashPassword } from '../src/auth/passwords.ts';
import { cliChangeContext } from '../src/auth/callers.ts';
import { openDatabase } from '../src/db/open-database.ts';
import { createUser } from '../src/domain/users/users.ts';
import { loadKeys } from '../src/domain/tokens/server-keys.ts';
import { fillLarge } from './large-dataset.ts';
import { progress } from './measure.ts';

const ISSUER = 'http://127.0.0.1:8080';
export const PERSON = { email: 'ada@large0.example', password: 'correct horse battery staple' };

/**
 * Creates an organization with 100,000 vulnerabilities and a user who can sign in. Reuses a data directory that has
 * them.
 */
export async function fillForConsole(dataDirectory: string): Promise<number> {
  const db = await openDatabase({ databaseUrl: undefined, dataDirectory, timeout: 600_000 });
  await db.migrate();
  const { keys } = await loadKeys(
    db,
    { masterKey: undefined, dataDirectory, createsMasterKey: true },
    { current: () => ISSUER, accepts: (name) => name === ISSUER },
  );
  const existing = await db.read.selectFrom('users').select('id').where('email', '=', PERSON.email).execute();
  if (existing.length === 0) {
    await fillLarge(db, 'sqlite', keys, progress);
    const passwordHash = await hashPassword(PERSON.password);
    await db.write((tx) =>
      createUser(tx, cliChangeContext(Date.now()), {
        email: PERSON.email,
        name: 'Ada',
        organization: 'large0',
        admin: true,
        passwordHash,
      }),
    );
  }
  const { count } = await db.read
    .selectFrom('vulnerabilities')
    .innerJoin('organizations', 'organizations.id', 'vulnerabilities.organization_id')
    .where('organizations.uid', '=', 'large0')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  await db.close();
  return count;
}
