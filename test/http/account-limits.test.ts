import { beforeAll, expect, it } from 'vitest';
import { acquireSlot, CONCURRENCY_LIMITS } from '../../src/http/account-limits.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => (server = await useSharedServer()));

it.each(Object.keys(CONCURRENCY_LIMITS) as (keyof typeof CONCURRENCY_LIMITS)[])(
  'The limit of concurrent %ss bounds an account and its organization',
  (name) => {
    const { perAccount, perOrganization } = CONCURRENCY_LIMITS[name];
    const organizationId = -1;
    const acquire = (userId: number, organization: number | null = organizationId) =>
      acquireSlot(server.context, { userId, organizationId: organization }, name);
    const releases: (() => void)[] = [];
    for (let count = 0; count < perOrganization; count += 1)
      releases.push(acquire(-1 - Math.floor(count / perAccount)));
    expect(() => acquire(-1)).toThrow('This account already has');
    // Another user has no requests, but the organization is at its limit.
    expect(() => acquire(-1_000)).toThrow('Your organization already has');
    acquire(-2_000, -2)();
    const release = releases.pop() as () => void;
    release();
    release();
    releases.push(acquire(-1_000));
    expect(() => acquire(-1_000)).toThrow('Your organization already has');
    for (const end of releases) end();
    acquire(-1)();
  },
);
