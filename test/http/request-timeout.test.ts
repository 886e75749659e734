import { setTimeout as delay } from 'node:timers/promises';
import fastify from 'fastify';
import { expect, it, vi } from 'vitest';
import { enforceRequestTimeout } from '../../src/http/request-timeout.ts';
import { toProblem } from '../../src/http/problems.ts';

it('Request timeout: returns 503 once for slow requests and leaves others alone', async () => {
  const app = fastify();
  enforceRequestTimeout(app, 40);
  app.setErrorHandler(async (error, _request, reply) => reply.code(toProblem(error).status).send());
  let finish: () => void = () => undefined;
  const endless = new Promise<void>((resolve) => (finish = resolve));
  const access = { config: { operation: 'test', access: 'unlimited' } } as const;
  app.get('/slow', access, async () => {
    await endless;
    return 'too late';
  });
  app.get('/fast', access, async () => 'in time');
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const [slow, fast] = await Promise.all([fetch(`${origin}/slow`), fetch(`${origin}/fast`)]);
  expect([slow.status, fast.status, await fast.text()]).toEqual([503, 200, 'in time']);
  finish();
  await delay(0);
  expect((await fetch(`${origin}/fast`)).status).toBe(200);
  await app.close();
});

it('Request timeout: leaves no timer for requests without a connection', async () => {
  const app = fastify();
  enforceRequestTimeout(app, 40);
  app.post('/here', { config: { operation: 'test', access: 'unlimited' } }, async () => 'done');
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const { statusCode } = await app.inject({ method: 'POST', url: '/here', payload: { a: 1 } });
    expect(statusCode).toBe(200);
    expect(() => vi.advanceTimersByTime(100)).not.toThrow();
  } finally {
    vi.useRealTimers();
  }
  await app.close();
});
