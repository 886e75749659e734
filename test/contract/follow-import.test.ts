import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { streamImportEvents } from '../../src/api/imports/import-events.ts';
import { type ImportView, readImport } from '../../src/domain/imports/import-list.ts';
import { operatorCaller } from '../../src/auth/callers.ts';
import { notFound } from '../../src/domain/shared/errors.ts';
import { holdQueue } from '../harness/import-gate.ts';
import { insertImport, uploadReport } from '../harness/imports.ts';
import { startTestServer, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { host, port, report } from '../importers/reports.ts';
import { applicationsOf } from '../oauth/applications.ts';

let organization: { id: number; uid: string };
let assessment: { id: number; uid: string };
let admin: TestUser;
const following = new Set<ClientRequest>();
/** How far the server's clock is ahead, in ms. */
let clockOffset = 0;

const server = await useSharedServer(() => Date.now() + clockOffset);
const fixtures = createFixtures(server);
afterEach(() => {
  vi.useRealTimers();
  clockOffset = 0;
  leave();
});
beforeEach(async () => {
  organization = await fixtures.organization();
  assessment = await fixtures.assessment(organization.uid);
  admin = await fixtures.user({ organization: organization.uid, admin: true });
});

const pathOf = (id: number) => `/v1/imports/${id}/events`;
/** Uses a connection of its own, so that the server need not keep it open for another request. */
async function follow(id: number, headers: Record<string, string> = {}, { token } = admin, method = 'GET') {
  const clientRequest = request(server.origin + pathOf(id), {
    method,
    agent: false,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  clientRequest.on('error', () => undefined).end();
  following.add(clientRequest);
  const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
  response.on('error', () => undefined).setEncoding('utf8');
  return {
    status: response.statusCode,
    headers: response.headers,
    text: async () => (await response.toArray()).join(''),
  };
}
const leave = () => {
  for (const connection of following) connection.destroy();
  following.clear();
};
const eventsIn = (text: string) =>
  text
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'))
    .map((event) => Object.fromEntries(event.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2))));

describe('Operation 68: follow an import', () => {
  it('sends the import with each event until it ends', async () => {
    const letImportsBegin = await holdQueue(server);
    const started = await uploadReport(server, admin.token, report(host('192.0.2.1', port(80))));
    const { id } = started.body;
    const response = await follow(id);
    await letImportsBegin();
    expect([response.status, response.headers['content-type'], response.headers['cache-control']]).toEqual([
      200,
      'text/event-stream',
      'no-store',
    ]);
    const events = eventsIn(await response.text());
    const last = events.pop();
    expect(events.length).toBeGreaterThan(0);
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['progress']));
    expect(new Set(events.map((event) => event['id'])).size).toBe(events.length);
    expect(JSON.parse(events[0]?.['data'] as string)).toMatchObject({ id, finished_at: null });
    expect([last?.['event'], last?.['id']]).toEqual(['end', 'end']);
    const { body } = await server.request('GET', `/v1/imports/${id}`, { token: admin.token });
    expect(JSON.parse(last?.['data'] as string)).toEqual(body);
  });

  it('sends the end event of a finished import immediately, and returns 204 to a client that has received it', async () => {
    const id = await insertImport(server, {
      organizationId: organization.id,
      state: 'cancelled',
      finishedAt: 1,
    });
    const response = await server.request('GET', pathOf(id), { token: admin.token });
    expect(eventsIn(response.text).map(({ event }) => event)).toEqual(['end']);
    const repeated = await server.request('GET', pathOf(id), {
      token: admin.token,
      headers: { 'last-event-id': 'end' },
    });
    expect([repeated.status, repeated.text]).toEqual([204, '']);
    const head = await follow(id, {}, admin, 'HEAD');
    expect([head.status, head.headers['content-type'], await head.text()]).toEqual([
      200,
      'text/event-stream',
      '',
    ]);
  });

  it('allows users with access to the assessment, and admins if there is none', async () => {
    const member = await fixtures.user({ organization: organization.uid });
    const ended = { organizationId: organization.id, state: 'failed', finishedAt: 1 } as const;
    const [without, inAssessment] = [
      await insertImport(server, ended),
      await insertImport(server, { ...ended, assessmentId: assessment.id }),
    ];
    const statuses = async () => [
      (await follow(without, {}, member)).status,
      (await follow(inAssessment, {}, member)).status,
      (await server.request('GET', `/v1/imports/${inAssessment}`, { token: member.token })).status,
    ];
    expect(await statuses()).toEqual([404, 404, 404]);
    await fixtures.access(assessment.uid, member.id);
    expect(await statuses()).toEqual([404, 200, 200]);
  });

  it('counts as a download: returns 429 to a fifth concurrent stream', async () => {
    const id = await insertImport(server, { organizationId: organization.id });
    const open = await Promise.all([follow(id), follow(id), follow(id), follow(id)]);
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const fifth = await follow(id);
    expect([fifth.status, fifth.headers['retry-after']]).toEqual([429, '5']);
    leave();
    await expect.poll(async () => (await follow(id)).status).toBe(200);
  });

  it('ends when the server shuts down, and closes keep-alive connections', async () => {
    const closing = await startTestServer();
    const closingFixtures = createFixtures(closing);
    const { id: organizationId, uid } = await closingFixtures.organization();
    const { token } = await closingFixtures.user({ organization: uid, admin: true });
    const id = await insertImport(closing, { organizationId });
    const response = await fetch(closing.origin + pathOf(id), {
      headers: { authorization: `Bearer ${token}` },
    });
    const [text] = await Promise.all([response.text(), closing.close()]);
    expect(eventsIn(text).map(({ event }) => event)).toEqual(['progress']);
  });
});

describe('Event streams', () => {
  /** Uses a connection of its own; `ended` resolves with the duration in ms. */
  const lasting = async (token: string, id: number) => {
    const clientRequest = request(server.origin + pathOf(id), {
      agent: false,
      headers: { authorization: `Bearer ${token}` },
    });
    clientRequest.on('error', () => undefined).end();
    following.add(clientRequest);
    const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
    const started = performance.now();
    response.on('error', () => undefined).resume();
    const ended = new Promise<number>((resolve) =>
      response.once('close', () => resolve(performance.now() - started)),
    );
    return { status: response.statusCode, response, ended };
  };

  it('end within 15 seconds after the credential or the account loses access', async () => {
    const id = await insertImport(server, { organizationId: organization.id });
    const { clock } = server.context;
    const person = () => fixtures.user({ organization: organization.uid, admin: true });
    const [revoked, expired, banned, demoted, allowed] = [
      await person(),
      await person(),
      await person(),
      await person(),
      await person(),
    ];
    const applications = applicationsOf(server);
    const application = await applications.client();
    const { access_token } = await applications.tokens(application, allowed.id);
    const expiringToken = await fixtures.token(expired.id, { expiresAt: clock() + 60_000 });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const streams = await Promise.all(
      [revoked.token, expiringToken.token, banned.token, demoted.token, access_token, admin.token].map(
        (token) => lasting(token, id),
      ),
    );
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const [ownToken] = (await server.request('GET', '/v1/tokens', { token: revoked.token })).body;
    const { token } = admin;
    const endings = [
      await server.request('DELETE', `/v1/tokens/${ownToken.id}`, { token: revoked.token }),
      await server.request('DELETE', `/v1/users/${banned.id}`, { token }),
      await server.request('PUT', `/v1/users/${demoted.id}`, { token, body: { admin: false } }),
      await applications.postAs(application, '/oauth/revoke', { token: access_token }),
    ];
    expect(endings.map(({ status }) => status)).toEqual([204, 200, 200, 200]);
    const [live] = streams.splice(-1);
    clockOffset = 60_000;
    vi.advanceTimersByTime(15_000);
    const lasted = await Promise.all(streams.map(({ ended }) => ended));
    for (const milliseconds of lasted) expect(milliseconds).toBeLessThanOrEqual(15_000);
    expect(live?.response.readableEnded || live?.response.destroyed).toBe(false);
  });
});

describe('Events of an import', () => {
  const viewOf = async (id: number) => readImport(server.context.db.read, operatorCaller(''), id);
  const first = async (lastEventId: string | undefined, heartbeatInterval: number, views: ImportView[]) => {
    const messages: string[] = [];
    const events = streamImportEvents({
      read: async () => {
        const view = views.shift();
        if (view === undefined) throw notFound('import');
        return view;
      },
      lastEventId,
      isClosing: () => false,
      pollInterval: 1,
      heartbeatInterval,
    });
    for await (const event of events) messages.push(event);
    return messages;
  };

  it('are sent on changes, and not again after the Last-Event-ID', async () => {
    const view = await viewOf(await insertImport(server, { organizationId: organization.id }));
    const later: ImportView = { ...view, state: 'running' };
    const [one, two, ...more] = await first(undefined, 60_000, [view, view, later, later]);
    expect(more).toEqual([]);
    const lastEventId = eventsIn(one ?? '')[0]?.['id'] as string;
    expect(await first(lastEventId, 60_000, [view, view, later])).toEqual([two]);
  });

  it('are replaced by comments while nothing changes', async () => {
    const view = await viewOf(await insertImport(server, { organizationId: organization.id }));
    const messages = await first(undefined, 0, [view, view, view]);
    expect(messages.slice(1)).toEqual([': still running\n\n', ': still running\n\n']);
  });
});
