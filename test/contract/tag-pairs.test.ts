import { createHash } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { expectProblem, expectSimpleError } from '../harness/expect-problem.ts';
import { startSecondServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const MAX_PAIRS = 350;

const server = await startSecondServer(await useSharedServer(), { maxTagPairs: MAX_PAIRS });
const fixtures = createFixtures(server);
const organization = (await fixtures.organization()).uid;
const admin = await fixtures.user({ organization, admin: true });
const assets: string[] = [];
for (let count = 0; count < 35; count += 1) assets.push((await fixtures.asset({ organization })).uid);
afterAll(() => server.close());

const send = (method: string, body: unknown) =>
  server.request(method, `/api/tagging/v1.0/organizations/${organization}/tags`, {
    token: admin.token,
    body,
  });
const references = (uids: readonly string[]) => uids.map((uid) => ({ uid }));
let lastNumber = 0;
const create = (tags: number, entities: readonly string[]) =>
  send('POST', {
    tags: Array.from({ length: tags }, () => ({
      name: `tag ${(lastNumber += 1)}`,
      entities: references(entities),
    })),
  });
const newTags = async (count: number) =>
  (await create(count, [])).body.tags.map((tag: { uid: string }) => tag.uid) as string[];
const countPairs = async () =>
  (await server.context.db.read.selectFrom('asset_taggings').select('tag_id').execute()).length;
const lastEvent = async () => (await fixtures.auditEvents()).at(-1);
const sha256 = (lines: readonly string[]) =>
  createHash('sha256')
    .update(
      [...lines]
        .sort()
        .map((line) => `${line}\n`)
        .join(''),
    )
    .digest('hex');

it('Operation 8: accepts the maximum number of pairs of tags and entities, and returns 413 for one more', async () => {
  const before = await countPairs();
  expect((await create(10, assets)).status).toBe(201);
  expect(await countPairs()).toBe(before + MAX_PAIRS);
  const rejected = await send('POST', {
    tags: [...Array(11).keys()].map((index) => ({
      name: `more ${index}`,
      entities: references(index === 0 ? assets.slice(0, 1) : assets),
    })),
  });
  expectProblem(server, rejected, {
    area: 'tagging',
    status: 413,
    kind: 'batch-too-large',
    maxBatchSize: MAX_PAIRS,
    batchSize: MAX_PAIRS + 1,
  });
  expect(await countPairs()).toBe(before + MAX_PAIRS);
});

it('Operation 9: counts attached and detached entities for each tag', async () => {
  const tags = await newTags(10);
  const before = await countPairs();
  const attached = await send('PATCH', { uids: tags, addEntities: references(assets) });
  expect(attached.status).toBe(204);
  expect(await countPairs()).toBe(before + MAX_PAIRS);
  const rejected = await send('PATCH', {
    uids: tags.slice(0, 9),
    addEntities: references(assets.slice(0, 20)),
    delEntityUids: assets.slice(15),
  });
  expectProblem(server, rejected, {
    area: 'tagging',
    status: 413,
    kind: 'batch-too-large',
    maxBatchSize: MAX_PAIRS,
    batchSize: 360,
  });
  expect((await send('PATCH', { uids: tags, delEntityUids: assets })).status).toBe(204);
  expect(await countPairs()).toBe(before);
});

it('Operations 8 and 9: count pairs after the types of the body and before other validation', async () => {
  const tooMany = (batchSize: number) =>
    ({ area: 'tagging', status: 413, kind: 'batch-too-large', maxBatchSize: MAX_PAIRS, batchSize }) as const;
  const tags = [...Array(11).keys()].map((index) => ({
    ...(index === 0 ? {} : { name: index === 1 ? '' : 'twice' }),
    entities: references(assets),
  }));
  expectProblem(server, await send('POST', { tags }), tooMany(385));
  const uids = [...Array<string>(10).fill('x'), 'a\0'];
  expectProblem(server, await send('PATCH', { uids, addEntities: references(assets) }), tooMany(385));

  const wrong = await send('POST', { tags: [...tags, { name: 5, entities: [] }] });
  expectSimpleError(wrong, 400);
  expectSimpleError(await send('PATCH', { uids, addEntities: [...references(assets), 5] }), 400);
  // Without tags there are no pairs.
  expect((await send('PATCH', { addEntities: references(assets) })).status).toBe(422);
});

it('Operation 9: records up to 300 pairs in the audit log, and the number and a digest of more', async () => {
  const tags = await newTags(10);
  const few = tags.slice(0, 8);
  await send('PATCH', { uids: few, addEntities: references(assets) });
  expect(JSON.parse((await lastEvent())?.after ?? '')).toEqual({
    attached: Object.fromEntries(few.map((tag) => [tag, expect.arrayContaining(assets)])),
  });
  await send('PATCH', { uids: few, delEntityUids: assets });

  await send('PATCH', { uids: tags, addEntities: references(assets) });
  expect(JSON.parse((await lastEvent())?.after ?? '')).toEqual({
    attached: {
      count: MAX_PAIRS,
      sha256: sha256(tags.flatMap((tag) => assets.map((asset) => `${tag} ${asset}`))),
    },
  });

  await create(9, assets);
  expect(JSON.parse((await lastEvent())?.after ?? '')).toEqual({
    name: `tag ${lastNumber}`,
    entities: { count: assets.length, sha256: sha256(assets) },
  });
});
