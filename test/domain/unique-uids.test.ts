import { expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { insertWithUniqueUid } from '../../src/domain/organizations/unique-uids.ts';

const admin = { organizationId: 1, admin: true, staff: false, assignedOrganizations: null };

it('tries again with other characters when a uid is taken', async () => {
  const tried: string[] = [];
  const insert = (uid: string) => {
    tried.push(uid);
    return Promise.resolve(tried.length < 3 ? undefined : uid);
  };
  expect(await insertWithUniqueUid(admin, 'web', '-', insert)).toBe(tried[2]);
  expect(new Set(tried).size).toBe(3);
});

it('inserts what callers who see every organization ask for, once', async () => {
  const tried: string[] = [];
  const insert = (uid: string) => {
    tried.push(uid);
    return Promise.resolve(undefined);
  };
  expect(await insertWithUniqueUid(cliChangeContext(0).actor, 'web', '-', insert)).toBeUndefined();
  expect(tried).toEqual(['web']);
});
