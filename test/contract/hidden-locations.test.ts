import { beforeEach, describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let organization: string;
let admin: { token: string };
const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = (await fixtures.organization()).uid;
  admin = await fixtures.user({ organization, admin: true });
});

const create = (body: object, token = admin.token) =>
  server.request('POST', '/api/asset/v2/assets', { token, body });
const host = (location: string, overrides: object = {}) => ({
  organizationUid: organization,
  assetType: 'host',
  location,
  ...overrides,
});

describe('A location of an asset that the caller cannot see', () => {
  /** Creates hidden hosts 192.0.2.1 and following, and a member with a listing. */
  async function hidden(count: number) {
    await fixtures.together(async (batch) => {
      for (let last = 1; last <= count; last += 1)
        await batch.asset({ organization, type: 'host', location: `192.0.2.${last}` });
    });
    const listing = await fixtures.assessment(organization);
    const member = await fixtures.user({ organization });
    await fixtures.access(listing.uid, member.id);
    const at = (last: number | string) => host(`192.0.2.${last}`, { listingUid: listing.uid });
    return { member, at };
  }
  const refusals = async () =>
    (await fixtures.auditEvents())
      .filter(({ action, after }) => action === 'location.refuse' && after !== null)
      .map(({ user_id, after }) => [user_id, JSON.parse(after ?? '').location]);

  it('returns 409 that names one of them, and records it', async () => {
    const { member, at } = await hidden(2);
    const response = await create([at(9), at(1), at(2)], member.token);
    expect([response.status, response.body.failedValidations]).toMatchObject([409, [{ index: 1 }]]);
    expect(response.body.failedValidations).toHaveLength(1);
    expect((await refusals()).filter(([user]) => user === member.id)).toEqual([[member.id, '192.0.2.1']]);
    expect((await create(at(9), member.token)).status).toBe(201);
  });

  it('returns 429 to the account after 20 within an hour, also when it moves an asset there', async () => {
    const { member, at } = await hidden(20);
    const { body: ownAsset } = await create(at(200), member.token);
    const move = (location: string) =>
      server.request('PATCH', `/api/asset/v2/assets/${ownAsset.uid}`, {
        token: member.token,
        body: { location },
      });
    for (let last = 1; last <= 19; last += 1) expect((await create(at(last), member.token)).status).toBe(409);
    expect((await move('192.0.2.20')).status).toBe(409);
    const rejected = await create(at(201), member.token);
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([
      429,
      expect.stringMatching(/^\d+$/),
    ]);
    expect((await move('192.0.2.202')).status).toBe(429);
    // Callers who see every asset are not limited.
    expect((await create(host('192.0.2.1'))).status).toBe(409);
    expect((await create(host('192.0.2.203'))).status).toBe(201);
  });
});
