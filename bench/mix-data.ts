import { sql } from 'kysely';
import { cliChangeContext } from '../src/auth/callers.ts';
import type { AccessRole, GroupRole } from '../src/auth/roles.ts';
import type { Database } from '../src/db/database.ts';
import { openDatabase } from '../src/db/open-database.ts';
import { loadKeys } from '../src/domain/tokens/server-keys.ts';
import { issueToken } from '../src/domain/tokens/tokens.ts';
import { createUser, type NewUser } from '../src/domain/users/users.ts';
import { fillOrganizations } from './lists-data.ts';
import { vacuum } from './lists-store.ts';

const ISSUER = 'http://127.0.0.1:8080';
const ORGANIZATIONS = 20;
const VULNERABILITIES = 5_000;
const STAFF = 2;
const ACT = cliChangeContext(Date.UTC(2025, 0, 1));

/** How many people of an organization have which access, 25 in all. */
const ROLES: readonly Role[] = [
  { count: 3, admin: true },
  { count: 8, byName: 'assessment_member' },
  { count: 3, byName: 'assessment_developer' },
  { count: 2, byName: 'assessment_read_only' },
  { count: 7, inGroup: 'assessment_member' },
  { count: 2, inGroup: 'assessment_read_only' },
];

interface Role {
  count: number;
  admin?: true;
  byName?: AccessRole;
  inGroup?: GroupRole;
}

/** Assessments of a person with access by name, of the 21 of an organization. */
const ASSESSMENTS_BY_NAME = 4;
const ASSESSMENTS = 21;

export interface Person {
  token: string;
  /** Addresses limit connections, so everyone has one. */
  address: string;
  kind: 'staff' | 'admin' | 'member';
}

/** Fills an empty database with 20 organizations of 25 people and 5,000 vulnerabilities each, and two staff. */
export async function fillMix(databaseUrl: string | undefined, dataDirectory: string): Promise<Person[]> {
  const db = await openDatabase({ databaseUrl, dataDirectory, timeout: 600_000 });
  await db.migrate();
  const organizations = Array.from({ length: ORGANIZATIONS }, (_, index) => `mix${index}`);
  await fillOrganizations(
    db,
    organizations.map((uid) => [uid, VULNERABILITIES] as const),
  );
  const { keys } = await loadKeys(
    db,
    { masterKey: undefined, dataDirectory, createsMasterKey: true },
    { current: () => ISSUER, accepts: (name) => name === ISSUER },
  );
  const people: Person[] = [];
  const add = async (input: NewUser, kind: Person['kind']) => {
    const user = await db.write((tx) => createUser(tx, ACT, input));
    const { token } = await db.write((tx) =>
      issueToken(tx, ACT, keys, { userId: user.id, kind: 'personal', expiresAt: null }),
    );
    const number = people.length;
    people.push({ token, address: `127.0.${1 + Math.floor(number / 200)}.${1 + (number % 200)}`, kind });
    return user;
  };
  const roles = ROLES.flatMap((role) => Array<Role>(role.count).fill(role));
  for (const organization of organizations)
    for (const [number, { admin, byName, inGroup }] of roles.entries()) {
      const assessments = Array.from(
        { length: byName === undefined ? 0 : ASSESSMENTS_BY_NAME },
        (_, index) => `${organization}-${(number * ASSESSMENTS_BY_NAME + index) % ASSESSMENTS}`,
      );
      const email = `person${number}@${organization}.example`;
      const { id } = await add(
        { email, organization, admin, assessments },
        admin === true ? 'admin' : 'member',
      );
      if (byName !== undefined) await setRole(db, id, byName);
      if (inGroup !== undefined) await joinGroup(db, id, inGroup);
    }
  for (let number = 0; number < STAFF; number += 1)
    await add({ email: `staff${number}@bench.example`, assignedTo: organizations }, 'staff');
  await db.write((tx) =>
    sql`insert into assessment_group_member_counts (group_id, role, members)
      select group_id, role, count(*) from assessment_group_members group by 1, 2`.execute(tx),
  );
  await db.close();
  if (databaseUrl !== undefined) await vacuum(databaseUrl);
  return people;
}

const setRole = (db: Database, userId: number, role: AccessRole) =>
  db.write((tx) => tx.updateTable('assessment_access').set({ role }).where('user_id', '=', userId).execute());

/** Adds a user to the group of their organization that has assessments. */
const joinGroup = (db: Database, userId: number, role: GroupRole) =>
  db.write((tx) =>
    sql`insert into assessment_group_members (organization_id, group_id, user_id, user_uid, role, created_at)
      select users.organization_id, min(assessment_groups.id), users.id, users.uid, ${sql.lit(role)}, ${sql.lit(ACT.now)}
      from users join assessment_groups on assessment_groups.organization_id = users.organization_id
      where users.id = ${userId} group by users.organization_id, users.id, users.uid`.execute(tx),
  );
