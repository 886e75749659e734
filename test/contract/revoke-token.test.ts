import { describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useSharedServer();
const fixtures = createFixtures(server);

const revoke = (id: string, token: string, headers = {}) =>
  server.request('DELETE', `/v1/tokens/${id}`, { token, headers });
const whoAmI = (token: string) => server.request('GET', '/v1/users/whoami', { token });

describe('Operation 59: revoke a token', () => {
  it('revokes the token immediately, and is idempotent', async () => {
    const user = await fixtures.user();
    const { id, token } = await fixtures.token(user.id);
    expect((await whoAmI(token)).status).toBe(200);
    expect((await revoke(id, user.token)).status).toBe(204);
    expect((await whoAmI(token)).status).toBe(401);
    expect((await revoke(id, user.token)).status).toBe(204);
    const events = (await fixtures.auditEvents()).filter(
      ({ action, object_id }) => action === 'token.revoke' && object_id === id,
    );
    expect(events).toHaveLength(1);
  });

  it('can revoke the token of the request itself', async () => {
    const { id: userId } = await fixtures.user();
    const { id, token } = await fixtures.token(userId);
    expect((await revoke(id, token)).status).toBe(204);
    expect((await revoke(id, token)).status).toBe(401);
  });

  it('returns 404 for tokens of others and malformed ids', async () => {
    const [user, otherUser] = [await fixtures.user(), await fixtures.user()];
    const { id, token } = await fixtures.token(otherUser.id);
    for (const tokenId of [id, 'none', '%20', '%00', 'a'.repeat(65), '00000000-0000-4000-8000-000000000000'])
      expect([tokenId, (await revoke(tokenId, user.token)).status]).toEqual([tokenId, 404]);
    expect((await whoAmI(token)).status).toBe(200);
  });

  it('supports If-Match; revocation keeps the version', async () => {
    const user = await fixtures.user();
    const { id } = await fixtures.token(user.id);
    expect((await revoke(id, user.token, { 'if-match': '"2.x"' })).status).toBe(412);
    expect((await revoke(id, user.token, { 'if-match': '"1.x"' })).status).toBe(204);
  });
});
