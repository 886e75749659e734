import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../src/http/rate-limit.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';

const NOW = Date.UTC(2026, 10, 21);

describe('Rate limiter', () => {
  it('allows requests up to the limit and returns what remains', () => {
    const limiter = new RateLimiter(3);
    const results = [0, 10, 20_500, 59_999].map((after) => limiter.consume('user:1', NOW + after));
    expect(results.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect(results.map(({ headers }) => headers['ratelimit'])).toEqual([
      '"default";r=2;t=60',
      '"default";r=1;t=60',
      '"default";r=0;t=40',
      '"default";r=0;t=1',
    ]);
    for (const { headers } of results) expect(headers['ratelimit-policy']).toBe('"default";q=3;w=60');
    expect(results.map(({ headers }) => headers['retry-after'])).toEqual([
      undefined,
      undefined,
      undefined,
      '1',
    ]);
  });

  it('resets after a minute', () => {
    const limiter = new RateLimiter(1);
    expect(limiter.consume('user:1', NOW).allowed).toBe(true);
    expect(limiter.consume('user:1', NOW + 59_999).allowed).toBe(false);
    expect(limiter.consume('user:1', NOW + 60_000)).toMatchObject({
      allowed: true,
      headers: { ratelimit: '"default";r=0;t=60' },
    });
  });

  it('counts each key separately', () => {
    const limiter = new RateLimiter(1);
    expect(limiter.consume('user:1', NOW).allowed).toBe(true);
    expect(limiter.consume('address:1', NOW).allowed).toBe(true);
    expect(limiter.consume('user:1', NOW).allowed).toBe(false);
  });

  it('is disabled at 0 and returns no headers', () => {
    const limiter = new RateLimiter(0);
    for (let i = 0; i < 1_000; i += 1)
      expect(limiter.consume('user:1', NOW)).toEqual({ allowed: true, headers: {} });
  });
});

it('IPv6 addresses of one network share a limit', async () => {
  const server = await startSecondServer(await useSharedServer(() => NOW), {
    rateLimit: 2,
    trustedProxies: ['127.0.0.1'],
  });
  const from = async (address: string) =>
    (await server.request('GET', '/sign-in', { headers: { 'x-forwarded-for': address } })).status;
  try {
    expect(await from('2001:db8:0:7::1')).toBe(200);
    expect(await from('2001:db8:0:7::2')).toBe(200);
    expect(await from('2001:db8:0:7:8000::')).toBe(429);
    expect(await from('2001:db8:0:8::1')).toBe(200);
    expect(await from('192.0.2.1')).toBe(200);
  } finally {
    await server.close();
  }
});
