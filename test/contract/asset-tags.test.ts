import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem, expectSimpleError } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { INVALID_NAMES } from '../harness/invalid-values.ts';
import { columnsOfRequest, type TestUser, createFixtures } from '../harness/fixtures.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);
const UNKNOWN_TAG = 'f'.repeat(12);
const forbidden = { area: 'tagging', status: 403, kind: 'forbidden' } as const;
const invalid = { area: 'tagging', status: 422, kind: 'validation-failed' } as const;

let organization: { id: number; uid: string };
let admin: TestUser;

const server = await useSharedServer(() => NOW);
const fixtures = createFixtures(server);
const staff = await fixtures.user();
beforeEach(async () => {
  organization = await fixtures.organization();
  admin = await fixtures.user({ organization: organization.uid, admin: true });
});

const path = (uid = organization.uid) => `/api/tagging/v1.0/organizations/${uid}/tags`;
const rename = (
  tag: string,
  body: unknown,
  { token = admin.token, uid = organization.uid, headers = {} as Record<string, string> } = {},
) => server.request('PUT', `${path(uid)}/${tag}`, { token, body, headers });
const remove = (uids: unknown, { token = admin.token, uid = organization.uid } = {}) =>
  server.request('DELETE', path(uid), { token, body: { uids } });
const newAsset = async (overrides: object = {}) =>
  (await fixtures.asset({ organization: organization.uid, ...overrides })).uid;

/** Creates a tag with entities and returns its uid. */
async function newTag(name: string, entities: string[] = [], uid = organization.uid): Promise<string> {
  const response = await server.request('POST', path(uid), {
    token: staff.token,
    body: { tags: [{ name, entities: entities.map((asset) => ({ uid: asset })) }] },
  });
  return response.body.tags[0].uid;
}
const read = async (tag: string, uid = organization.uid) =>
  server.request('GET', `${path(uid)}/${tag}`, { token: staff.token });
const nameOf = async (tag: string, uid = organization.uid) => (await read(tag, uid)).body.name;
const isThere = async (tag: string, uid = organization.uid) => (await read(tag, uid)).status === 200;
const events = async (action: string) =>
  (await fixtures.auditEvents()).filter(
    (event) => event.action === action && event.organization_id === organization.id,
  );

/** Creates a user with listing scopes only, and a listing that they have access to. */
async function ofListing() {
  const listing = await fixtures.assessment(organization.uid);
  const user = await fixtures.user({ organization: organization.uid });
  await fixtures.access(listing.uid, user.id);
  const { token } = await fixtures.token(user.id, { scopes: ['tag_lw'] });
  return { listing: listing.uid, token };
}

describe('Operation 72: rename an asset tag', () => {
  it('returns 204 without a body and increments the version', async () => {
    const tag = await newTag('Old', [await newAsset()]);
    const before = await read(tag);
    const response = await rename(tag, { name: '  New ' });
    expect([response.status, response.text]).toEqual([204, '']);
    const after = await read(tag);
    expect(after.body).toEqual({ ...before.body, name: 'New' });
    expect(before.headers.get('etag')).toMatch(/^"1\./);
    expect(after.headers.get('etag')).toMatch(/^"2\./);
  });

  it('returns 412 for a stale version, which only a new name increments', async () => {
    const tag = await newTag('Old');
    const etag = (await read(tag)).headers.get('etag') ?? '';
    await server.request('PATCH', path(), {
      token: staff.token,
      body: { uids: [tag], addEntities: [{ uid: await newAsset() }] },
    });
    expect((await rename(tag, { name: 'Old' }, { headers: { 'if-match': etag } })).status).toBe(204);
    expect((await rename(tag, { name: 'New' }, { headers: { 'if-match': etag } })).status).toBe(204);
    const stale = await rename(tag, { name: 'Newer' }, { headers: { 'if-match': etag } });
    expectProblem(server, stale, { area: 'tagging', status: 412, kind: 'precondition-failed' });
    expect(await nameOf(tag)).toBe('New');
    const missing = await rename(UNKNOWN_TAG, { name: 'Newer' }, { headers: { 'if-match': etag } });
    expectSimpleError(missing, 404);
  });

  it.each(['Taken', 'tAKEN', ' taken '])(
    'returns 409 for %j if another tag is named "Taken"',
    async (name) => {
      await newTag('Taken');
      const tag = await newTag('Old');
      expectProblem(server, await rename(tag, { name }), {
        area: 'tagging',
        status: 409,
        kind: 'conflict',
        failedValidation: [{ property: 'name', message: 'already exists', value: name.trim() }],
      });
      expect(await nameOf(tag)).toBe('Old');
      expect((await rename(tag, { name: 'oLD' })).status).toBe(204);
      expect(await events('asset-tag.rename')).toHaveLength(1);
    },
  );

  it.each(INVALID_NAMES)('returns 422 for the name %j', async (name) => {
    expectProblem(server, await rename(UNKNOWN_TAG, { name }), {
      ...invalid,
      failedValidation: [
        {
          property: 'name',
          message: expect.stringMatching(/^must /),
          value: name.slice(0, 100).toWellFormed(),
        },
      ],
    });
  });

  it('returns 404 for tags and organizations that the caller cannot see', async () => {
    const otherOrganization = await fixtures.organization();
    const foreignTag = await newTag('theirs', [], otherOrganization.uid);
    for (const [tag, uid] of [
      [foreignTag, organization.uid],
      [foreignTag, otherOrganization.uid],
      [UNKNOWN_TAG, organization.uid],
      ['%00', organization.uid],
      [foreignTag, 'nosuch'],
    ] as const)
      expectSimpleError(await rename(tag, { name: 'stolen' }, { uid }), 404);
    expect(await nameOf(foreignTag, otherOrganization.uid)).toBe('theirs');
  });

  it('requires a write scope', async () => {
    const tag = await newTag('Old');
    for (const scope of ['tag_or', 'asset_or', 'tag_lr']) {
      const { token } = await fixtures.token(admin.id, { scopes: [scope] });
      expectProblem(server, await rename(tag, { name: 'New' }, { token }), forbidden);
    }
    for (const scope of ['tag_ow', 'asset_client_ow']) {
      const { token } = await fixtures.token(admin.id, { scopes: [scope] });
      expect((await rename(tag, { name: `by ${scope}` }, { token })).status).toBe(204);
    }
  });

  it('records both names in the audit log', async () => {
    const tag = await newTag('Old');
    const response = await rename(tag, { name: 'New' });
    expect(await events('asset-tag.rename')).toEqual([
      {
        ...columnsOfRequest(admin, response),
        at: NOW,
        action: 'asset-tag.rename',
        object_type: 'asset-tag',
        object_id: tag,
        organization_id: organization.id,
        before: '{"name":"Old"}',
        after: '{"name":"New"}',
      },
    ]);
  });
});

describe('Operation 73: delete asset tags', () => {
  it('returns 204 and removes the tags from their assets', async () => {
    const asset = await newAsset();
    const [firstTag, secondTag, remainingTag] = [
      await newTag('one', [asset]),
      await newTag('two'),
      await newTag('kept', [asset]),
    ];
    const response = await remove([firstTag, secondTag, firstTag]);
    expect([response.status, response.text]).toEqual([204, '']);
    expect([await isThere(firstTag), await isThere(secondTag), await isThere(remainingTag)]).toEqual([
      false,
      false,
      true,
    ]);
    const rows = await server.context.db.read
      .selectFrom('asset_taggings')
      .innerJoin('assets', 'assets.id', 'asset_taggings.asset_id')
      .select('tag_id')
      .where('assets.uid', '=', asset)
      .execute();
    expect(rows).toHaveLength(1);
  });

  it('returns 422 with the index of unknown tags, and deletes nothing', async () => {
    const otherOrganization = await fixtures.organization();
    const tag = await newTag('mine');
    const foreignTag = await newTag('theirs', [], otherOrganization.uid);
    expectProblem(server, await remove([tag, UNKNOWN_TAG, foreignTag, 'no uid'], { token: staff.token }), {
      ...invalid,
      failedValidations: [1, 2, 3].map((index) => ({
        index,
        failedValidation: [
          {
            property: `uids.${index}`,
            message: 'is not the uid of a tag that you can access',
            value: [UNKNOWN_TAG, foreignTag, 'no uid'][index - 1],
          },
        ],
      })),
    });
    expect([await isThere(tag), await isThere(foreignTag, otherOrganization.uid)]).toEqual([true, true]);
    expectSimpleError(await remove([foreignTag], { uid: otherOrganization.uid }), 404);
  });

  it('accepts 1 to 1,000 tags', async () => {
    expect((await remove([])).status).toBe(422);
    expect((await server.request('DELETE', path(), { token: admin.token, body: {} })).status).toBe(422);
    expectProblem(server, await remove(Array(1_001).fill(UNKNOWN_TAG)), {
      area: 'tagging',
      status: 413,
      kind: 'batch-too-large',
      maxBatchSize: 1_000,
      batchSize: 1_001,
    });
    expect((await remove(Array(1_000).fill(await newTag('often')))).status).toBe(204);
  });

  it('records an audit event for each tag with its previous values', async () => {
    const [a, b] = [await newAsset(), await newAsset()];
    const tags = [await newTag('one', [a, b]), await newTag('two')];
    const response = await remove(tags);
    const written = await events('asset-tag.delete');
    expect(written.map(({ object_id, before, after }) => [object_id, JSON.parse(before!), after])).toEqual([
      [tags[0], { name: 'one', entities: [a, b] }, null],
      [tags[1], { name: 'two', entities: [] }, null],
    ]);
    for (const event of written)
      expect([event.user_id, event.request_id]).toEqual([admin.id, response.headers.get('x-request-id')]);
  });

  it('records only the number of entities of large tags', async () => {
    const uids: string[] = [];
    for (let index = 0; index < 151; index += 1) uids.push(await newAsset());
    await remove([await newTag('one', uids), await newTag('two', uids.slice(1))]);
    expect((await events('asset-tag.delete')).map(({ before }) => JSON.parse(before!))).toEqual([
      { name: 'one', entities: { count: 151 } },
      { name: 'two', entities: { count: 150 } },
    ]);
  });
});

describe('Operations 72 and 73: listing scopes', () => {
  it("rename and delete tags whose entities are all in the caller's listings", async () => {
    const { listing, token } = await ofListing();
    const [listed, also, unlisted] = [await newAsset(), await newAsset(), await newAsset()];
    await fixtures.list(listing, listed);
    await fixtures.list(listing, also);
    const ownTag = await newTag('own', [listed, also]);
    const partly = await newTag('partly', [listed, unlisted]);
    const bare = await newTag('bare');
    for (const tag of [partly, bare]) {
      expectProblem(server, await rename(tag, { name: 'stolen' }, { token }), forbidden);
      expectProblem(server, await remove([ownTag, tag], { token }), forbidden);
    }
    expect((await rename(ownTag, { name: 'renamed' }, { token })).status).toBe(204);
    expect((await remove([ownTag], { token })).status).toBe(204);
    expect([await isThere(partly), await isThere(bare), await isThere(ownTag)]).toEqual([true, true, false]);
  });

  it('return the error for an unknown tag before the one for a forbidden tag', async () => {
    const { token } = await ofListing();
    const bare = await newTag('bare');
    expect((await remove([bare, UNKNOWN_TAG], { token })).status).toBe(422);
    expectSimpleError(await rename(UNKNOWN_TAG, { name: 'stolen' }, { token }), 404);
  });

  it('require only one sufficient scope', async () => {
    const bare = await newTag('bare');
    const { token } = await fixtures.token(admin.id, { scopes: ['tag_lw', 'tag_ow'] });
    expect((await rename(bare, { name: 'renamed' }, { token })).status).toBe(204);
    expect((await remove([bare], { token })).status).toBe(204);
  });
});

describe('Operations 72 and 73: tags of an organization group', () => {
  it('change tags for callers who can see every organization of the group, and return 403 to others', async () => {
    const otherOrganization = await fixtures.organization();
    const group = `group${organization.uid}`;
    await fixtures.organizationGroup(group, [organization.uid, otherOrganization.uid]);
    const tag = await newTag('shared', [await newAsset()], group);
    const halfSignedIn = await fixtures.user({ assignedTo: [organization.uid] });
    const assignedToAll = await fixtures.user({ assignedTo: [organization.uid, otherOrganization.uid] });
    for (const { token } of [admin, halfSignedIn]) {
      expectProblem(server, await rename(tag, { name: 'stolen' }, { token, uid: group }), forbidden);
      expectProblem(server, await remove([tag], { token, uid: group }), forbidden);
      // Checks of the path come first, then those of the body.
      expectSimpleError(await rename(UNKNOWN_TAG, { name: 'stolen' }, { token, uid: group }), 404);
      expectProblem(server, await remove([UNKNOWN_TAG], { token, uid: group }), forbidden);
    }
    expect((await rename(tag, { name: 'renamed' }, { token: assignedToAll.token, uid: group })).status).toBe(
      204,
    );
    expect(await nameOf(tag, group)).toBe('renamed');
    expect((await remove([tag], { token: staff.token, uid: group })).status).toBe(204);
    expect(await isThere(tag, group)).toBe(false);
  });

  it("return 404 or 422 for a group's tag under one of its organizations", async () => {
    const group = `group${organization.uid}`;
    await fixtures.organizationGroup(group, [organization.uid]);
    const tag = await newTag('shared', [], group);
    expectSimpleError(await rename(tag, { name: 'stolen' }), 404);
    expect((await remove([tag])).status).toBe(422);
    expect((await remove([tag], { uid: group })).status).toBe(204);
  });
});
