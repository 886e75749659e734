import { Readable } from 'node:stream';
import fastify from 'fastify';
import { afterEach, expect, it, vi } from 'vitest';
import { enforceRequestTimeout } from '../../src/http/request-timeout.ts';
import { toProblem } from '../../src/http/problems.ts';
import { gate } from '../harness/gate.ts';

afterEach(() => void vi.useRealTimers());

it('Request timeout: returns 503 once for slow requests and leaves others alone', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const app = fastify();
  enforceRequestTimeout(app, 40);
  app.setErrorHandler(async (error, _request, reply) => reply.code(toProblem(error).status).send());
  const started = gate();
  const end = gate();
  const access = { config: { operation: 'test', access: 'unlimited' } } as const;
  app.get('/slow', access, async () => {
    started.open();
    await end.opened;
    return 'too late';
  });
  app.get('/fast', access, async () => 'in time');
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const slow = fetch(`${origin}/slow`);
  await started.opened;
  vi.advanceTimersByTime(30);
  const fast = await fetch(`${origin}/fast`);
  expect([fast.status, await fast.text()]).toEqual([200, 'in time']);
  vi.advanceTimersByTime(20);
  expect((await slow).status).toBe(503);
  end.open();
  expect((await fetch(`${origin}/fast`)).status).toBe(200);
  await app.close();
});

it('Request timeout: leaves a response alone that has begun', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const app = fastify();
  enforceRequestTimeout(app, 40);
  const interruption = gate();
  app.get('/download', { config: { operation: 'test', access: 'unlimited' } }, ({ abortState }, reply) => {
    const lines = async function* () {
      yield 'first line\n';
      await interruption.opened;
      yield abortState?.aborted === true ? 'aborted' : 'second line';
    };
    return reply.type('text/plain').send(Readable.from(lines()));
  });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const response = await fetch(`${origin}/download`);
  vi.advanceTimersByTime(1_000);
  interruption.open();
  expect(await response.text()).toBe('first line\nsecond line');
  await app.close();
});

it('Request timeout: leaves no timer for requests without a connection', async () => {
  const app = fastify();
  enforceRequestTimeout(app, 40);
  app.post('/here', { config: { operation: 'test', access: 'unlimited' } }, async () => 'done');
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const { statusCode } = await app.inject({ method: 'POST', url: '/here', payload: { a: 1 } });
  expect(statusCode).toBe(200);
  expect(() => vi.advanceTimersByTime(100)).not.toThrow();
  await app.close();
});
