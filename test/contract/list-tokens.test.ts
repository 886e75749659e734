import { describe, expect, it } from 'vitest';
import { recordTokenUse } from '../../src/domain/tokens/credentials.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const HOUR = 3_600_000;

let now = Date.UTC(2026, 10, 21, 10, 30);
const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);

const iso = (time: number) => new Date(time).toISOString();

describe('Operation 57: list your tokens', () => {
  it("returns the caller's personal access tokens, newest first, including revoked and expired ones", async () => {
    const { uid } = await fixtures.organization();
    const user = await fixtures.user({ organization: uid });
    await fixtures.user({ organization: uid });
    const start = now;
    now += HOUR;
    const expired = await fixtures.token(user.id, {
      expiresAt: now + HOUR,
      allowedAddresses: ['192.0.2.0/24'],
    });
    await fixtures.token(user.id, { kind: 'jwt', expiresAt: now + HOUR });
    now += 2 * HOUR;
    const revoked = await fixtures.token(user.id, { scopes: ['api', 'tag_lr'] });
    await server.context.db.write((tx) =>
      recordTokenUse(tx, new Map([[revoked.id, { at: now, address: '192.0.2.7' }]])),
    );
    now += 1;
    expect((await server.request('DELETE', `/v1/tokens/${revoked.id}`, { token: user.token })).status).toBe(
      204,
    );
    const { status, body } = await server.request('GET', '/v1/tokens', { token: user.token });
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        id: revoked.id,
        name: null,
        prefix: revoked.token.slice(0, 12),
        scopes: ['api', 'tag_lr'],
        allowed_addresses: [],
        created_at: iso(now - 1),
        expires_at: null,
        last_used_at: iso(now - 1),
        last_used_from: '192.0.2.7',
        revoked_at: iso(now),
        made_by: null,
      },
      {
        id: expired.id,
        name: null,
        prefix: expired.token.slice(0, 12),
        scopes: expect.any(Array),
        allowed_addresses: ['192.0.2.0/24'],
        created_at: iso(start + HOUR),
        expires_at: iso(start + 2 * HOUR),
        last_used_at: null,
        last_used_from: null,
        revoked_at: null,
        made_by: null,
      },
      expect.objectContaining({ prefix: user.token.slice(0, 12), created_at: iso(start) }),
    ]);
  });
});
