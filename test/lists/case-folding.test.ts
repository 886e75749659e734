import { eventually } from '../harness/eventually.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { createFixtures } from '../harness/fixtures.ts';
import { uploadReport, waitForImport } from '../harness/imports.ts';
import { useSharedServer } from '../harness/server.ts';

let admin: string;
let organization: string;
let assessment: string;

const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeAll(async () => {
  organization = (await fixtures.organization()).uid;
  admin = (await fixtures.user({ organization, admin: true, name: 'Άννα Weiß' })).token;
  const group = await fixtures.group(organization);
  assessment = (await fixtures.assessment(organization, undefined, group.id)).uid;
  const asset = await fixtures.asset({ organization, name: 'ΔΟΣΑ' });
  const changes = [
    ['PATCH', `/v1/assessments/${assessment}`],
    ['PATCH', `/v1/assessment_groups/${group.id}`],
    ['PATCH', `/api/asset/v2/assets/${asset.uid}`],
  ] as const;
  for (const [method, path] of changes)
    expect((await request(method, path, { name: 'ΔΟΣΑ' })).status).toBe(200);
  await fixtures.vulnerability(assessment, { title: 'ΔΟΣΑ report', description: 'In the Große Straße' });
  await fixtures.vulnerabilityTag(organization, 'ΔΟΣΑ');
  await fixtures.assessmentTag(assessment, 'ΔΟΣΑ');
  const tags = `/api/tagging/v1.0/organizations/${organization}/tags`;
  expect((await request('POST', tags, { tags: [{ name: 'ΔΟΣΑ' }] })).status).toBe(201);
});

const request = (method: string, path: string, body?: unknown) =>
  server.request(method, path, { token: admin, ...(body === undefined ? {} : { body }) });

async function countRows(path: string): Promise<number> {
  const { status, body } = await request('GET', path);
  expect(status).toBe(200);
  return body.length;
}

describe('Searches fold case', () => {
  // The final sigma of "ΔΟΣ" is another lower-case letter than the one within "ΔΟΣΑ".
  it.each(['ΔΟΣ', 'δος', 'δοσ', 'ΔοΣΑ', 'ΔΟΣΑ'.normalize('NFD')])(
    'finds ΔΟΣΑ by %s in every list',
    async (text) => {
      const search = encodeURIComponent(text);
      for (const path of [
        `/v1/vulnerabilities?filter[search]=${search}`,
        `/v1/assessments?filter[search]=${search}`,
        `/v1/assessment_groups?filter[search]=${search}`,
        `/v1/vulnerability_tags?filter[search]=${search}`,
        `/v1/assessment_tags?filter[search]=${search}`,
        `/api/asset/v2/assets?search=${search}`,
        `/api/tagging/v1.0/organizations/${organization}/tags?search=${search}`,
      ])
        expect([path, await countRows(path)]).toEqual([path, 1]);
    },
  );

  it.each(['GROSSE STRASSE', 'große straße', 'GROẞE STRAẞE', 'osse'])(
    'finds "Große Straße" by %s',
    async (text) =>
      expect(await countRows(`/v1/vulnerabilities?filter[search]=${encodeURIComponent(text)}`)).toBe(1),
  );

  it.each(['WEISS', 'άννα', 'ΆΝΝΑ'])('finds a user by %s', async (text) =>
    expect(await countRows(`/v1/users?filter[search]=${encodeURIComponent(text)}`)).toBe(1),
  );
});

describe('Names fold case', () => {
  it('makes one tag of two spellings', async () => {
    const { id } = await fixtures.vulnerability(assessment);
    for (const name of ['Straße', 'STRASSE', 'STRAẞE']) {
      const { status } = await request('PATCH', `/v1/vulnerabilities/${id}`, { tag_list: [name] });
      expect(status).toBe(200);
    }
    expect(await countRows('/v1/vulnerability_tags?filter[search]=stra%C3%9Fe')).toBe(1);
  });

  it('rejects an asset tag whose name differs only in case', async () => {
    const tags = `/api/tagging/v1.0/organizations/${organization}/tags`;
    expect((await request('POST', tags, { tags: [{ name: 'δοςα' }] })).status).toBe(409);
    expect((await request('POST', tags, { tags: [{ name: 'Maße' }, { name: 'MASSE' }] })).status).toBe(422);
  });
});

it('An import recognizes a title in another case', async () => {
  for (const title of ['Σφάλμα ΔΟΣ im Maß', 'ΣΦΆΛΜΑ δος im MASS']) {
    const started = await uploadReport(server, admin, `title,severity\n${title},High\n`, {
      assessment_id: assessment,
      format: 'csv',
    });
    expect(await waitForImport(server, admin, started.body.id)).toMatchObject({ state: 'succeeded' });
  }
  // The words of imported vulnerabilities are indexed by a job.
  await eventually(async () =>
    expect(await countRows(`/v1/vulnerabilities?filter[search]=${encodeURIComponent('im mass')}`)).toBe(1),
  );
});
