import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CheckedResponse, createResponseCheck } from '../harness/response-schema-check.ts';
import { startTestServer, type TestServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

let server: TestServer;
let check: ReturnType<typeof createResponseCheck>;
beforeAll(async () => {
  server = await useSharedServer();
  check = createResponseCheck((await server.request('GET', '/openapi.json')).body);
});
afterAll(() => server.close());

const PATH = '/v1/assessments/acme/testing_hours?x=1';
const HOURS = { stats_total: 1.5, from: '2026-11-21T10:30:00.000Z', to: '2026-11-21T10:30:00.000Z' };
const json = (status: number, body: unknown, type = 'application/json; charset=utf-8'): CheckedResponse => ({
  status,
  type,
  text: JSON.stringify(body),
});

describe('The check that holds every answer of the tests to the description', () => {
  it('lets pass what is as described, and what is not of the API', () => {
    const deleted = { status: 204, type: null, text: '' };
    expect(() => check('GET', PATH, json(200, HOURS))).not.toThrow();
    expect(() => check('DELETE', '/v1/vulnerability_tags/1', deleted)).not.toThrow();
    expect(() => check('GET', '/healthz', json(418, {}))).not.toThrow();
    expect(() => check('POST', PATH, json(405, {}))).not.toThrow();
  });

  it.each<[string, string, string, CheckedResponse]>([
    ['a status that is not described', 'GET', PATH, json(418, HOURS)],
    ['a field that is missing', 'GET', PATH, json(200, { ...HOURS, to: undefined })],
    ['a field of another type', 'GET', PATH, json(200, { ...HOURS, stats_total: '1.5' })],
    ['a field that is not described', 'GET', PATH, json(200, { ...HOURS, secret: 1 })],
    ['a time in another form', 'GET', PATH, json(200, { ...HOURS, to: '2026-11-21T10:30:00Z' })],
    ['another media type', 'GET', PATH, json(200, HOURS, 'text/html')],
    ['no media type', 'GET', PATH, { status: 200, type: null, text: '' }],
    ['an error of another shape', 'GET', PATH, json(404, { error: 'x' }, 'application/problem+json')],
    ['a body where there is none', 'DELETE', '/v1/vulnerability_tags/1', json(204, {})],
    [
      'a field that is not described deep inside',
      'PATCH',
      '/v1/vulnerabilities/1',
      json(200, {
        id: 1,
        title: '',
        description: '',
        severity: 'Low',
        status: 'Fixed',
        cvss_score: null,
        created_at: HOURS.from,
        updated_at: HOURS.to,
        attachments: [],
        tags: [{ id: 1, name: 'x', editable: true, organization_profile_id: 1, more: 1 }],
      }),
    ],
    [
      'a path that is written with escapes',
      'POST',
      '/api/asset/v2/bulk/assets/criticality%3Aupdate',
      json(200, { updatedCount: '1' }),
    ],
  ])('refuses %s', (_what, method, path, answer) => {
    expect(() => check(method, path, answer)).toThrow(/^The answer \d{3} of [a-zA-Z]+ /);
  });

  it('is asked about every answer', async () => {
    // A year of five digits has another form.
    const late = await startTestServer({}, () => Date.UTC(12_026, 0));
    try {
      const world = createFixtures(late);
      const { uid } = await world.organization();
      const assessment = await world.assessment(uid);
      const { token } = await world.user({ organization: uid, admin: true });
      const path = `/v1/assessments/${assessment.uid}/testing_hours`;
      await expect(late.request('GET', path, { token })).rejects.toThrow(
        /getTestingHours is not as described/,
      );
    } finally {
      await late.close();
    }
  });
});
