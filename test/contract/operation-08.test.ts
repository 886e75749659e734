import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { worldOf } from '../harness/world.ts';

let server: TestServer;
let world: ReturnType<typeof worldOf>;
beforeAll(async () => {
  server = await startTestServer();
  world = worldOf(server);
});
afterAll(() => server.close());

describe('Operation 8: create asset tags', () => {
  it('creates tags with their entities', async () => {
    await world.organization('acme');
    const admin = await world.user({ organization: 'acme', admin: true });
    const asset = await world.asset({ organization: 'acme' });
    const response = await server.request('POST', '/api/tagging/v1.0/organizations/acme/tags', {
      token: admin.token,
      body: {
        tags: [{ name: ' edge ', entities: [{ uid: asset.uid }, { uid: asset.uid }] }, { name: 'core' }],
      },
    });
    expect(response.body).toEqual({
      tags: [
        {
          uid: expect.stringMatching(/^[0-9a-f]{12}$/),
          name: 'edge',
          orgUid: 'acme',
          entities: [{ uid: asset.uid, entityType: 'asset' }],
        },
        { uid: expect.stringMatching(/^[0-9a-f]{12}$/), name: 'core', orgUid: 'acme', entities: [] },
      ],
    });
    expect(response.status).toBe(201);
  });
});
