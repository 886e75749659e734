import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fastify from 'fastify';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { handleMalformedRequests } from '../../src/http/malformed-requests.ts';
import { toProblem } from '../../src/http/problems.ts';
import { enforceRequestTimeout } from '../../src/http/request-timeout.ts';
import { eventually } from '../harness/eventually.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { gate } from '../harness/gate.ts';
import { nextRequest } from '../harness/next-request.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';

const server = await useSharedServer();
const fixtures = createFixtures(server);
await fixtures.organization('slowbodies');
const { token } = await fixtures.user({ organization: 'slowbodies', admin: true });

/** The level of pino. */
const INFO = 30;
const JSON_TYPE = 'Content-Type: application/json';
const FORM_TYPE = 'Content-Type: application/x-www-form-urlencoded';
/** A request for each error format, and a part of its response. */
const REQUESTS = [
  ['V1', 'POST /v1/vulnerabilities', JSON_TYPE, '"status":408'],
  [
    'V1 with an idempotency key',
    'POST /v1/vulnerabilities',
    `${JSON_TYPE}\r\nIdempotency-Key: slow-1`,
    '"status":408',
  ],
  [
    'the tagging area',
    'POST /api/tagging/v1.0/organizations/slowbodies/tags',
    JSON_TYPE,
    '/request-timeout"',
  ],
  [
    'the assessment area',
    'POST /api/assessment/v1/assessment-groups/1/members/batchRemove',
    JSON_TYPE,
    '"status":408',
  ],
  ['a page', 'POST /sign-in', FORM_TYPE, '<!doctype html>'],
  ['the token endpoint', 'POST /oauth/token', FORM_TYPE, '"error":"invalid_request"'],
] as const;

describe('A body that never arrives', () => {
  it.each(REQUESTS)('is a 408 for %s, and no error in the log', async (_what, line, headers, body) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const hasty = await startSecondServer(server, { requestTimeout: 4_000 });
    onTestFinished(async () => {
      await hasty.close();
      vi.useRealTimers();
    });
    const path = line.split(' ')[1];
    const before = hasty.logs().length;
    for (const rest of ['Content-Length: 10\r\n\r\n{', 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n']) {
      const arriving = nextRequest();
      const answer = sendPart(
        hasty.origin,
        `${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n${rest}`,
      );
      const request = await arriving;
      await eventually(() => expect(request.readableFlowing).toBe(true));
      vi.advanceTimersByTime(6_000);
      const response = await answer;
      expect(response).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(response.toLowerCase()).toContain('\r\nconnection: close\r\n');
      expect(response).toContain(body);
    }
    const logged = () => hasty.logs().slice(before);
    const ended = () => logged().filter((entry) => entry['path'] === path && entry['status'] === 408);
    await eventually(() => expect(ended()).toHaveLength(2));
    expect(logged().filter(({ level }) => level !== INFO)).toEqual([]);
  });

  it('is a 503 if the server has not begun to read it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const app = fastify();
    onTestFinished(async () => {
      await app.close();
      vi.useRealTimers();
    });
    enforceRequestTimeout(app, 4_000);
    const started = gate();
    app.addHook('preParsing', () => {
      started.open();
      return new Promise<never>(() => undefined);
    });
    app.post('/', { config: { operation: 'test', access: 'unlimited' } }, async () => 'done');
    app.setErrorHandler(async (error, _request, reply) => reply.code(toProblem(error).status).send());
    const origin = await app.listen({ host: '127.0.0.1', port: 0 });
    const response = sendPart(
      origin,
      `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${JSON_TYPE}\r\nContent-Length: 10\r\n\r\n{`,
    );
    await started.opened;
    vi.advanceTimersByTime(6_000);
    expect(await response).toMatch(/^HTTP\/1\.1 503 /);
  });
});

it('A head that never arrives is a 408', async () => {
  const slow = createServer({ headersTimeout: 10, connectionsCheckingInterval: 10 });
  slow.on('clientError', handleMalformedRequests({ 'x-extra': 'yes' }, server.context));
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void slow.close());
  const { port } = slow.address() as AddressInfo;
  const response = await sendPart(`http://127.0.0.1:${port}`, 'GET /healthz HTTP/1.1\r\nHost: a\r\n');
  expect(response).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nx-extra: yes\r\n/);
  expect(response).toContain('/problems/server/request-timeout"');
});

/** Sends an incomplete request. @returns everything received until the server closes the connection */
async function sendPart(origin: string, part: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.write(part);
  return text(socket);
}
