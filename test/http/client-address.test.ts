import { describe, expect, it } from 'vitest';
import { startSecondServer, useOwnServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21);

const server = await useOwnServer(
  { trustedProxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8:ffff::/48'] },
  () => NOW,
);

/** @returns the address in the log for a request with this X-Forwarded-For */
async function addressFor(forwarded: string | undefined): Promise<unknown> {
  const { headers } = await server.request('GET', '/sign-in', {
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  });
  const id = headers.get('x-request-id');
  return server.logs().find((line) => line['msg'] === 'request' && line['requestId'] === id)?.['address'];
}

describe('Client address', () => {
  it.each([
    ['no header', undefined, '0.0.0.0'],
    ['an address', '192.0.2.1', '192.0.2.1'],
    ['an address and a port', '192.0.2.1:4711', '192.0.2.1'],
    ['an IPv6 address and a port', '[2001:db8::7]:4711', '2001:db8::7'],
    ['an IPv6 address', '2001:db8:0:0::7', '2001:db8::7'],
    ['several addresses, by the last untrusted one', '198.51.100.1, 192.0.2.1', '192.0.2.1'],
    ['a proxy in front of the proxy', '198.51.100.1, 192.0.2.1:99, 10.1.2.3:443', '192.0.2.1'],
    ['an IPv6 proxy in front of the proxy', '192.0.2.1, [2001:db8:ffff::1]:443', '192.0.2.1'],
    ['only proxies', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['an invalid address', 'unknown', '0.0.0.0'],
    ['an invalid address before a proxy', '192.0.2.1, unknown, 10.0.0.2', '0.0.0.0'],
    ['an empty list', '', '0.0.0.0'],
    ['an address before an empty item', '192.0.2.1,', '0.0.0.0'],
  ])('is read from %s', async (_what, forwarded, address) => {
    expect(await addressFor(forwarded)).toBe(address);
  });

  it("is the proxy's own if no proxy is trusted", async () => {
    const strict = await startSecondServer(server, { trustedProxies: [] });
    const linesBefore = strict.logs().length;
    try {
      await strict.request('GET', '/sign-in', { headers: { 'x-forwarded-for': '192.0.2.1' } });
      const addresses = strict
        .logs()
        .slice(linesBefore)
        .filter((line) => line['msg'] === 'request')
        .map((line) => line['address']);
      expect(addresses).toEqual(['127.0.0.1']);
      const headers = { 'x-forwarded-for': '127.0.0.1' };
      const metrics = await strict.request('GET', '/metrics', { headers });
      expect([metrics.status, metrics.text]).toEqual([403, expect.stringContaining('ASSAY_TRUSTED_PROXIES')]);
    } finally {
      await strict.close();
    }
  });
});

describe('Sign-in lockout', () => {
  it.each([
    ['ports', (attempt: number) => `192.0.2.77:${1024 + attempt}`],
    ['addresses of one IPv6 network', (attempt: number) => `[2001:db8:0:77::${attempt.toString(16)}]:443`],
  ])('is not bypassed with other %s', async (_what, from) => {
    const { email } = await createFixtures(server).account();
    const visitor = createFormClient(server);
    const page = await visitor.open('/sign-in');
    const [, token = ''] = /name="_csrf" value="([^"]+)"/.exec(page.text) ?? [];
    const attempts = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      const fields = { _csrf: token, email, password: 'not the password' };
      attempts.push((await visitor.post('/sign-in', fields, { 'x-forwarded-for': from(attempt) })).status);
    }
    expect(attempts.at(-1)).toBe(429);
    expect(attempts.filter((status) => status === 429)).toHaveLength(1);
  });
});
