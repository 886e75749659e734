import { expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { insertWithUniqueUid } from '../../src/domain/organizations/unique-uids.ts';

const admin = { organizationId: 1, admin: true, staff: false, assignedOrganizations: null };

it('tries again with other characters when a uid is taken', async () => {
  const attempts: string[] = [];
  const insert = (uid: string) => {
    attempts.push(uid);
    return Promise.resolve(attempts.length < 3 ? undefined : uid);
  };
  expect(await insertWithUniqueUid(admin, 'web', '-', insert)).toBe(attempts[2]);
  expect(new Set(attempts).size).toBe(3);
});

it('inserts what callers who see every organization ask for, once', async () => {
  const attempts: string[] = [];
  const insert = (uid: string) => {
    attempts.push(uid);
    return Promise.resolve(undefined);
  };
  expect(await insertWithUniqueUid(cliChangeContext(0).actor, 'web', '-', insert)).toBeUndefined();
  expect(attempts).toEqual(['web']);
});
