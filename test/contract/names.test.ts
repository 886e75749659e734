import { beforeEach, describe, expect, it } from 'vitest';
import { UNPRINTABLE_NAMES } from '../harness/invalid-values.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

/** A name from before the rule. */
const STORED = 'two\nlines';

let organization: { id: number; uid: string };
let assessment: { id: number; uid: string };
let admin: TestUser;

const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  assessment = await fixtures.assessment(organization.uid);
  admin = await fixtures.user({ organization: organization.uid, admin: true });
});

const send = (method: string, path: string, body: unknown, token = admin.token) =>
  server.request(method, path, { token, body });
const tagsPath = () => `/api/tagging/v1.0/organizations/${organization.uid}/tags`;

/** Creates with a name, by kind. */
const creations: Record<string, (name: string) => ReturnType<typeof send>> = {
  organization: async (name) =>
    send('POST', '/v1/organizations', { uid: 'new', name }, (await fixtures.user()).token),
  'organization, renamed': async (name) =>
    send('PATCH', `/v1/organizations/${organization.uid}`, { name }, (await fixtures.user()).token),
  assessment: (name) => send('POST', '/v1/assessments', { name }),
  'assessment, renamed': (name) => send('PATCH', `/v1/assessments/${assessment.uid}`, { name }),
  'tag of an assessment by its name': (name) =>
    send('PATCH', `/v1/assessments/${assessment.uid}`, { tag_list: [name] }),
  vulnerability: (title) =>
    send('POST', '/v1/vulnerabilities', { assessment_id: assessment.uid, title, severity: 'Low' }),
  category: (name) =>
    send('POST', '/v1/vulnerabilities', {
      assessment_id: assessment.uid,
      title: 'Title',
      severity: 'Low',
      category: { parent: 'Parent', display: name },
    }),
  'vulnerability, renamed': async (title) =>
    send('PUT', `/v1/vulnerabilities/${(await fixtures.vulnerability(assessment.uid)).id}`, {
      title,
      severity: 'Low',
    }),
  'tag of a vulnerability by its name': async (name) =>
    send('PATCH', `/v1/vulnerabilities/${(await fixtures.vulnerability(assessment.uid)).id}`, {
      tag_list: [name],
    }),
  'tag in a bulk update': async (name) =>
    send('POST', '/v1/vulnerabilities/bulk_update', {
      ids: [(await fixtures.vulnerability(assessment.uid)).id],
      set: { add_tags: [name] },
    }),
  'tag of an asset': (name) => send('POST', tagsPath(), { tags: [{ name }] }),
  asset: (name) =>
    send('POST', '/api/asset/v2/assets', {
      organizationUid: organization.uid,
      assetType: 'host',
      location: '192.0.2.77',
      name,
    }),
  'asset without a location': (name) =>
    send('POST', '/api/asset/v2/assets', { organizationUid: organization.uid, assetType: 'network', name }),
  token: (name) => send('POST', '/v1/tokens', { name }),
  user: (name) => send('POST', '/v1/users', { email: `${admin.uid}@new.example`, name }),
  'user, renamed': (name) => send('PUT', `/v1/users/${admin.id}`, { name }),
};

describe.each(Object.keys(creations))('The name of an object: %s', (kind) => {
  const create = (name: string) => (creations[kind] as (typeof creations)[string])(name);

  it.each(UNPRINTABLE_NAMES)('is a 422 with control characters: %j', async (name) => {
    const { status, text } = await create(name);
    expect([status, text]).toEqual([
      422,
      expect.stringContaining(
        'must not contain line breaks, other control characters or unpaired surrogates',
      ),
    ]);
  });

  it('is accepted with any other characters', async () => {
    expect((await create('Łódź "a" 日本\u00a0😀')).status).toBeLessThan(300);
  });
});

describe('An object with a name from before the rule', () => {
  it('is read and edited: vulnerability', async () => {
    const { id } = await fixtures.vulnerability(assessment.uid);
    await server.context.db.write((tx) =>
      tx
        .updateTable('vulnerabilities')
        .set({ title: STORED, category_parent: STORED })
        .where('id', '=', id)
        .execute(),
    );
    const { body } = await server.request('GET', `/v1/vulnerabilities/${id}`, { token: admin.token });
    expect(body.title).toBe(STORED);
    const { title, severity, category } = body;
    const edited = await send('PUT', `/v1/vulnerabilities/${id}`, {
      title,
      severity,
      category,
      description: 'two\nlines',
    });
    expect([edited.status, edited.body.title, edited.body.description]).toEqual([200, STORED, 'two\nlines']);
  });

  it('is read and edited: assessment', async () => {
    await server.context.db.write((tx) =>
      tx.updateTable('assessments').set({ name: STORED }).where('id', '=', assessment.id).execute(),
    );
    for (const body of [{ description: 'new' }, { description: 'newer', name: STORED }]) {
      const edited = await send('PATCH', `/v1/assessments/${assessment.uid}`, body);
      expect([edited.status, edited.body.name]).toEqual([200, STORED]);
    }
  });

  it('is read and edited: asset', async () => {
    const { uid } = await fixtures.asset({ organization: organization.uid });
    await server.context.db.write((tx) =>
      tx.updateTable('assets').set({ name: STORED }).where('uid', '=', uid).execute(),
    );
    for (const body of [{ description: 'new' }, { description: 'newer', name: STORED }]) {
      const edited = await send('PATCH', `/api/asset/v2/assets/${uid}`, body);
      expect([edited.status, edited.body.name]).toEqual([200, STORED]);
    }
  });

  it('can be selected: tag', async () => {
    const tag = await fixtures.vulnerabilityTag(organization.uid);
    const { id } = await fixtures.vulnerability(assessment.uid);
    await server.context.db.write((tx) =>
      tx
        .updateTable('vulnerability_tags')
        .set({ name: STORED, normalized_name: STORED })
        .where('id', '=', tag.id)
        .execute(),
    );
    const set = await send('PATCH', `/v1/vulnerabilities/${id}`, { tag_list: [STORED] });
    expect([set.status, set.body.tags]).toEqual([200, [expect.objectContaining({ name: STORED })]]);
    const removal = { ids: [id], set: { remove_tags: [STORED] } };
    expect((await send('POST', '/v1/vulnerabilities/bulk_update', removal)).status).toBe(200);
    const { body } = await server.request('GET', `/v1/vulnerabilities/${id}`, { token: admin.token });
    expect(body.tags).toEqual([]);
  });
});
