import { describe, expect, it } from 'vitest';
import { createFixtures } from '../harness/fixtures.ts';
import { createFormClient } from '../harness/form-client.ts';
import { useSharedServer } from '../harness/server.ts';

const server = await useSharedServer();
const account = await createFixtures(server).account();
const visitor = createFormClient(server);
await visitor.signIn(account.email, account.password);

describe('Console', () => {
  it('redirects to the sign-in, and from there back to the requested page', async () => {
    const anonymous = createFormClient(server);
    expect((await anonymous.get('/')).location).toBe(`${server.origin}/sign-in`);
    expect((await anonymous.get('/vulnerabilities/7?open=8')).location).toBe(
      `${server.origin}/sign-in?to=%2Fvulnerabilities%2F7%3Fopen%3D8`,
    );
    for (const path of ['/', '/vulnerabilities', '/assets/5f0c1e2d', '/people']) {
      const page = await visitor.get(path);
      expect([path, page.status, page.text.includes('<div id="root">')]).toEqual([path, 200, true]);
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self';");
      expect(page.headers.get('content-security-policy')).toContain("style-src 'self';");
    }
  });

  it('serves immutable assets, compressed if the client accepts it', async () => {
    const { text } = await visitor.get('/');
    const script = /src="([^"]+\.js)"/.exec(text)?.[1] ?? '';
    const file = await createFormClient(server).get(script, { 'accept-encoding': 'br' });
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-encoding')).toBe('br');
    expect(
      (await createFormClient(server).get(script, { 'accept-encoding': 'identity' })).headers.get(
        'content-encoding',
      ),
    ).toBeNull();
    expect((await createFormClient(server).get('/console/files/none.js')).status).toBe(404);
  });
});
