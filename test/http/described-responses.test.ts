import { describe, expect, it } from 'vitest';
import { type CheckedResponse, createResponseCheck } from '../harness/response-schema-check.ts';
import { startTestServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useSharedServer();
const check = createResponseCheck((await server.request('GET', '/openapi.json')).body);

const PATH = '/v1/assessments/acme/testing_hours?x=1';
const HOURS = { stats_total: 1.5, from: '2026-11-21T10:30:00.000Z', to: '2026-11-21T10:30:00.000Z' };
const json = (status: number, body: unknown, type = 'application/json; charset=utf-8'): CheckedResponse => ({
  status,
  type,
  text: JSON.stringify(body),
});

describe('Response schema check', () => {
  it('accepts described responses and paths outside the API', () => {
    const deleted = { status: 204, type: null, text: '' };
    expect(() => check('GET', PATH, json(200, HOURS))).not.toThrow();
    expect(() => check('DELETE', '/v1/vulnerability_tags/1', deleted)).not.toThrow();
    expect(() => check('GET', '/healthz', json(418, {}))).not.toThrow();
    expect(() => check('POST', PATH, json(405, {}))).not.toThrow();
  });

  it.each<[string, string, string, CheckedResponse]>([
    ['an undescribed status', 'GET', PATH, json(418, HOURS)],
    ['a missing field', 'GET', PATH, json(200, { ...HOURS, to: undefined })],
    ['a field of another type', 'GET', PATH, json(200, { ...HOURS, stats_total: '1.5' })],
    ['an undescribed field', 'GET', PATH, json(200, { ...HOURS, secret: 1 })],
    ['a time in another format', 'GET', PATH, json(200, { ...HOURS, to: '2026-11-21T10:30:00Z' })],
    ['another media type', 'GET', PATH, json(200, HOURS, 'text/html')],
    ['no media type', 'GET', PATH, { status: 200, type: null, text: '' }],
    ['an error of another shape', 'GET', PATH, json(404, { error: 'x' }, 'application/problem+json')],
    ['a body for a status without one', 'DELETE', '/v1/vulnerability_tags/1', json(204, {})],
    [
      'an undescribed nested field',
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
      'a percent-encoded path',
      'POST',
      '/api/asset/v2/bulk/assets/criticality%3Aupdate',
      json(200, { updatedCount: '1' }),
    ],
  ])('rejects %s', (_what, method, path, response) => {
    expect(() => check(method, path, response)).toThrow(/^The answer \d{3} of [a-zA-Z]+ /);
  });

  it('checks every response of the tests', async () => {
    // A year of five digits has another format.
    const lateServer = await startTestServer({}, () => Date.UTC(12_026, 0));
    try {
      const fixtures = createFixtures(lateServer);
      const { uid } = await fixtures.organization();
      const assessment = await fixtures.assessment(uid);
      const { token } = await fixtures.user({ organization: uid, admin: true });
      const path = `/v1/assessments/${assessment.uid}/testing_hours`;
      await expect(lateServer.request('GET', path, { token })).rejects.toThrow(
        /getTestingHours is not as described/,
      );
    } finally {
      await lateServer.close();
    }
  });
});
