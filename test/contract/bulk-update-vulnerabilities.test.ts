import { CompiledQuery } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorCaller } from '../../src/auth/callers.ts';
import {
  bulkUpdateVulnerabilities,
  prepareBulkUpdate,
} from '../../src/domain/vulnerabilities/bulk/update.ts';
import { addDeltas, DeltaAccumulator, insertDeltas } from '../../src/domain/shared/counters.ts';
import { countedFieldsOf, counterDeltas } from '../../src/domain/vulnerabilities/counter-deltas.ts';
import { insertImport, insertGoneFindings } from '../harness/imports.ts';
import { blockWrites } from '../harness/block-writes.ts';
import { changeCounted, readAndRecount } from '../harness/vulnerability-counters.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { engine, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);
const HOUR = 3_600_000;
const UNKNOWN_ID = 987_654_321;
const invalid = { area: 'v1', status: 422, kind: 'validation-failed' } as const;

let now = START;
let organization: { id: number; uid: string };
let assessment: string;
let admin: TestUser;

const server = await useSharedServer(() => now);
const fixtures = createFixtures(server);
const staff = await fixtures.user();
beforeEach(async () => {
  now += 2 * HOUR;
  await fixtures.together(async (batch) => {
    organization = await batch.organization();
    assessment = (await batch.assessment(organization.uid)).uid;
    admin = await batch.user({ organization: organization.uid, admin: true });
  });
});

const bulk = (body: unknown, token = admin.token, headers: Record<string, string> = {}) =>
  server.request('POST', '/v1/vulnerabilities/bulk_update', { token, body, headers });
const make = (count: number, input: object = {}, inAssessment = assessment) =>
  fixtures.together(async ({ vulnerability }) => {
    const ids: number[] = [];
    for (let index = 0; index < count; index += 1) ids.push((await vulnerability(inAssessment, input)).id);
    return ids;
  });
const rowOf = (id: number) =>
  server.context.db.read
    .selectFrom('vulnerabilities')
    .select([
      'status_id',
      'status_set_at',
      'closed_at',
      'severity',
      'severity_rank',
      'assignee_id',
      'due_on',
      'updated_at',
      'version',
    ])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
const tagsOf = async (id: number) =>
  (
    await server.context.db.read
      .selectFrom('vulnerability_taggings')
      .innerJoin('vulnerability_tags', 'vulnerability_tags.id', 'vulnerability_taggings.tag_id')
      .select('vulnerability_tags.name')
      .where('vulnerability_id', '=', id)
      .orderBy('tag_id')
      .execute()
  ).map(({ name }) => name);
const eventsOf = async (requestId: string | null, action = 'vulnerability.update') =>
  (await fixtures.auditEvents())
    .filter((event) => event.request_id === requestId && event.action === action)
    .map(({ object_id, before, after }) => ({
      id: Number(object_id),
      before: JSON.parse(before ?? 'null'),
      after: JSON.parse(after ?? 'null'),
    }));
const timelineOf = async (id: number) =>
  (
    await server.context.db.read
      .selectFrom('timeline_entries')
      .select(['kind', 'before', 'after'])
      .where('vulnerability_id', '=', id)
      .orderBy('id')
      .execute()
  ).map(({ kind, before, after }) => ({
    kind,
    before: JSON.parse(before ?? 'null'),
    after: JSON.parse(after ?? 'null'),
  }));
/** Returns the sums of the counters, without zeros. */
async function counts() {
  const { read } = server.context.db;
  const select = (table: 'counters' | 'counter_deltas') =>
    read
      .selectFrom(table)
      .select(['kind', 'subject', 'bucket', 'amount'])
      .where('kind', 'in', ['asset', 'vulnerability-tag']);
  // One statement, as a job moves deltas to their counters.
  const stored = await select('counters').unionAll(select('counter_deltas')).execute();
  const sums: Record<string, number> = {};
  for (const { kind, subject, bucket, amount } of stored) {
    const key = `${kind} ${subject} ${bucket}`;
    sums[key] = (sums[key] ?? 0) + amount;
  }
  const { counters } = await readAndRecount(server.context.db, organization.id, now);
  return { ...Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0)), ...counters };
}
afterEach(async () => {
  const { counters, rows } = await readAndRecount(server.context.db, organization.id, now);
  expect(counters).toEqual(rows);
});
const idOf = (response: { headers: Headers }) => response.headers.get('x-request-id');
const bodyOf = (response: { body: any }) => response.body;

describe('Operation 30: update many vulnerabilities', () => {
  it('updates each of the given ids once and returns those that changed', async () => {
    const [a, b, c, d] = (await make(4)) as [number, number, number, number];
    const response = await bulk({ ids: [c, a, c, b], set: { status_id: 2, severity: 'Critical' } });
    expect([response.status, bodyOf(response)]).toEqual([
      200,
      { matched_count: 3, updated_count: 3, ids: [a, b, c], dry_run: false, truncated: false },
    ]);
    expect(response.headers.get('etag')).toBeNull();
    for (const id of [a, b, c]) {
      expect(await rowOf(id)).toEqual({
        status_id: 2,
        status_set_at: now,
        closed_at: null,
        severity: 'Critical',
        severity_rank: 4,
        assignee_id: null,
        due_on: null,
        updated_at: now,
        version: 2,
      });
    }
    expect(await rowOf(d)).toMatchObject({ status_id: 1, severity: 'High', version: 1 });
  });

  it('leaves vulnerabilities that already match, and their version, unchanged', async () => {
    const [a, b] = (await make(2, { statusId: 5 })) as [number, number];
    await bulk({ ids: [a], set: { status_id: 2 } });
    const before = await rowOf(b);
    now += 1_000;
    const response = await bulk({ ids: [a, b], set: { status_id: 5 } });
    expect(bodyOf(response)).toMatchObject({ matched_count: 2, updated_count: 1, ids: [a] });
    expect(await rowOf(b)).toEqual(before);
    expect(await rowOf(a)).toMatchObject({ status_set_at: now, closed_at: now, version: 3 });
    expect((await eventsOf(idOf(response))).map(({ id }) => id)).toEqual([a]);
  });

  it('sets and clears assignee and due date', async () => {
    const ids = await make(2);
    const member = await fixtures.user({ organization: organization.uid });
    await fixtures.access(assessment, member.id);
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    for (const { id } of [member, admin, assigned]) {
      await bulk({ ids, set: { assignee_id: id, due_on: '2027-02-28' } });
      expect(await rowOf(ids[1] as number)).toMatchObject({ assignee_id: id, due_on: '2027-02-28' });
    }
    await bulk({ ids, set: { assignee_id: null, due_on: null } });
    expect(await rowOf(ids[0] as number)).toMatchObject({ assignee_id: null, due_on: null, version: 5 });
  });

  it('returns 422 for an assignee without access to the assessment of each vulnerability', async () => {
    const ids = [
      ...(await make(1)),
      ...(await make(1, {}, (await fixtures.assessment(organization.uid)).uid)),
    ];
    const member = await fixtures.user({ organization: organization.uid });
    await fixtures.access(assessment, member.id);
    const otherOrganization = await fixtures.organization();
    const foreignAdmin = await fixtures.user({ organization: otherOrganization.uid, admin: true });
    const assigned = await fixtures.user({ assignedTo: [otherOrganization.uid] });
    for (const id of [member.id, foreignAdmin.id, assigned.id, UNKNOWN_ID]) {
      expectProblem(server, await bulk({ ids, set: { assignee_id: id, status_id: 2 } }), {
        ...invalid,
        failedValidation: [
          {
            property: 'set.assignee_id',
            message: 'is not the id of a user with access to all of the assessments',
            value: String(id),
          },
        ],
      });
    }
    expect(await rowOf(ids[0] as number)).toMatchObject({ status_id: 1, version: 1 });
    expect((await bulk({ ids: ids.slice(0, 1), set: { assignee_id: member.id } })).status).toBe(200);
  });

  it('returns 422 for invalid dates, severities and statuses', async () => {
    const ids = await make(1);
    for (const set of [
      { due_on: '2027-02-29' },
      { due_on: 'soon' },
      { severity: 'critical' },
      { status_id: 10 },
      { status_id: 0 },
    ]) {
      const response = await bulk({ ids, set });
      expect([response.status, response.body.failedValidation[0].property]).toEqual([
        422,
        `set.${Object.keys(set)[0]}`,
      ]);
    }
  });

  it('allows callers who may update each vulnerability', async () => {
    const ids = await make(2);
    const member = await fixtures.user({ organization: organization.uid });
    await fixtures.access(assessment, member.id);
    const assigned = await fixtures.user({ assignedTo: [organization.uid] });
    for (const [index, { token }] of [member, admin, staff, assigned].entries())
      expect(bodyOf(await bulk({ ids, set: { status_id: index + 2 } }, token)).updated_count).toBe(2);
  });

  it('returns 422 with the index of ids that the caller cannot see, and changes nothing', async () => {
    const [own] = await make(1);
    const otherOrganization = await fixtures.organization();
    const [foreign] = await make(1, {}, (await fixtures.assessment(otherOrganization.uid)).uid);
    const outsider = await fixtures.user({ organization: organization.uid });
    expectProblem(server, await bulk({ ids: [own, foreign, UNKNOWN_ID], set: { status_id: 2 } }), {
      ...invalid,
      failedValidations: [foreign, UNKNOWN_ID].map((id, index) => ({
        index: index + 1,
        failedValidation: [
          {
            property: `ids.${index + 1}`,
            message: 'is not the id of a vulnerability that you can access',
            value: String(id),
          },
        ],
      })),
    });
    expect((await bulk({ ids: [own], set: { status_id: 2 } }, outsider.token)).status).toBe(422);
    expect(await rowOf(own as number)).toMatchObject({ status_id: 1, version: 1 });
  });

  it('returns 413 for too many tags or too long comments in all, while others write', async () => {
    const ids = await make(60);
    const names = (count: number) => Array.from({ length: count }, (_, index) => `tag ${index}`);
    const filter = { status_id: [1] };
    const tooLarge: [object, number, number][] = [
      [{ ids, set: { add_tags: names(900) } }, 50_000, 54_000],
      [{ filter, set: { add_tags: names(500), remove_tags: names(900).slice(500) } }, 50_000, 54_000],
      [{ filter, set: { tag_list: names(900) } }, 50_000, 54_000],
      [{ ids, set: { tags: Array.from({ length: 900 }, (_, id) => id + 1) } }, 50_000, 54_000],
      [{ filter, set: { status_id: 2 }, comment: 'é'.repeat(65_000) + 'x' }, 8 * 1024 ** 2, 0],
    ];
    const release = await blockWrites(server);
    for (const [body, max, size] of tooLarge.slice(0, 4))
      expectProblem(server, await bulk(body), {
        area: 'v1',
        status: 413,
        kind: 'batch-too-large',
        maxBatchSize: max,
        batchSize: size,
      });
    await release();
    for (const id of await make(5)) ids.push(id);
    const [comment] = tooLarge.at(-1) as [object, number, number];
    expectProblem(server, await bulk(comment), {
      area: 'v1',
      status: 413,
      kind: 'batch-too-large',
      maxBatchSize: 8 * 1024 ** 2,
      batchSize: 65 * 130_001,
    });
    expect(await rowOf(ids[0] as number)).toMatchObject({ version: 1, status_id: 1 });
    expect((await bulk({ ids: ids.slice(1, 3), set: { add_tags: names(900) } })).status).toBe(200);
  });

  it.each<[string, (items: number) => object]>([
    ['set.tags', (items) => ({ set: { tags: Array(items).fill(1) } })],
    ['set.tag_list', (items) => ({ set: { tag_list: Array(items).fill('a') } })],
    ['set.add_tags', (items) => ({ set: { add_tags: Array(items).fill('a') } })],
    ['set.remove_tags', (items) => ({ set: { remove_tags: Array(items).fill('a') } })],
    ['filter.status_id', (items) => ({ set: { status_id: 2 }, filter: { status_id: Array(items).fill(1) } })],
  ])('returns 413 for more than 1,000 items in %s', async (_name, bodyWith) => {
    const [id] = await make(1);
    const select = (body: object) => ('filter' in body ? body : { ids: [id], ...body });
    expectProblem(server, await bulk(select(bodyWith(1_001))), {
      area: 'v1',
      status: 413,
      kind: 'batch-too-large',
      maxBatchSize: 1_000,
      batchSize: 1_001,
    });
    expect((await bulk(select(bodyWith(1_000)))).status).not.toBe(413);
  });

  it('returns 413 for more than 100,000 tags to take off', async () => {
    const ids = await make(112);
    const names = Array.from({ length: 900 }, (_, index) => `tag ${index}`);
    for (let start = 0; start < ids.length; start += 55)
      bodyOf(await bulk({ ids: ids.slice(start, start + 55), set: { add_tags: names } }));
    const clear = { filter: { status_id: [1] }, set: { tags: [] } };
    expectProblem(server, await bulk(clear), {
      area: 'v1',
      status: 413,
      kind: 'batch-too-large',
      maxBatchSize: 100_000,
      batchSize: 112 * 900,
    });
    // A dry run counts tags that do not exist yet.
    const replacement = Array.from({ length: 200 }, (_, index) => `new tag ${index}`);
    const replace = { ids: ids.slice(0, 100), set: { tag_list: replacement }, dry_run: true };
    expect((await bulk(replace)).body.batchSize).toBe(100 * (900 + 200));
    expect(await tagsOf(ids[0] as number)).toHaveLength(900);
    expect(bodyOf(await bulk({ ids: ids.slice(0, 111), set: { tags: [] } })).updated_count).toBe(111);
  });

  it('filters again by what may change without the vulnerability', async () => {
    const [detected, goneId] = (await make(2)) as [number, number];
    const by = await insertImport(server, { organizationId: organization.id });
    await insertGoneFindings(server, { ids: [detected, goneId], by, at: now });
    const { db } = server.context;
    const actor = operatorCaller('bulk');
    const prepared = await prepareBulkUpdate(
      { db: db.read, caller: actor, now },
      { filter: { gone: true, goneImportId: [by] }, set: { statusId: 5 } },
    );
    await db.write((tx) =>
      tx
        .updateTable('scanner_findings')
        .set({ gone_at: null, gone_import_id: null })
        .where('vulnerability_id', '=', detected)
        .execute(),
    );
    const result = await db.write((tx) => bulkUpdateVulnerabilities(tx, { actor, now }, prepared));
    expect(result).toEqual({ matched: 1, changed: [goneId] });
  });

  it('searches again, as the name of a tag may change', async () => {
    const [tagged, entitled] = (await make(2)) as [number, number];
    bodyOf(await bulk({ ids: [tagged], set: { add_tags: ['Sought'] } }));
    const { db } = server.context;
    await db.write((tx) =>
      tx
        .updateTable('vulnerabilities')
        .set({ title: 'Sought', search_title: 'sought' })
        .where('id', '=', entitled)
        .execute(),
    );
    const actor = operatorCaller('bulk');
    const prepared = await prepareBulkUpdate(
      { db: db.read, caller: actor, now },
      { filter: { search: 'sought' }, set: { statusId: 5 } },
    );
    await db.write((tx) =>
      tx
        .updateTable('vulnerability_tags')
        .set({ name: 'Other', normalized_name: 'other' })
        .where('normalized_name', '=', 'sought')
        .execute(),
    );
    const result = await db.write((tx) => bulkUpdateVulnerabilities(tx, { actor, now }, prepared));
    expect(result).toEqual({ matched: 1, changed: [entitled] });
  });

  it('finds matches by 1,000 CVEs', async () => {
    const [id, otherId] = (await make(3)) as [number, number];
    const setCves = (vulnerabilityId: number, cves: string[]) =>
      server.context.db.write((tx) =>
        tx
          .updateTable('vulnerabilities')
          .set({ cve_ids: JSON.stringify(cves) })
          .where('id', '=', vulnerabilityId)
          .execute(),
      );
    await setCves(id, ['CVE-2023-1111', 'CVE-2024-0999']);
    await setCves(otherId, ['CVE-2022-0001']);
    const cve = Array.from({ length: 1_000 }, (_, index) => `CVE-2024-${String(index).padStart(4, '0')}`);
    const { matched_count: count, ids } = bodyOf(await bulk({ filter: { cve }, set: { status_id: 2 } }));
    expect([count, ids]).toEqual([1, [id]]);
  });

  it('accepts 1 to 10,000 ids', async () => {
    const [id] = await make(1);
    expect((await bulk({ ids: [], set: { status_id: 2 } })).status).toBe(422);
    expect(bodyOf(await bulk({ ids: Array(10_000).fill(id), set: { status_id: 2 } })).matched_count).toBe(1);
    expectProblem(server, await bulk({ ids: Array(10_001).fill(id), set: { status_id: 2 } }), {
      area: 'v1',
      status: 413,
      kind: 'batch-too-large',
      maxBatchSize: 10_000,
      batchSize: 10_001,
    });
  });
});

describe('Operation 30: validation', () => {
  it.each<[string, (id: number) => object, string]>([
    ['neither ids nor filter', () => ({ set: { status_id: 2 } }), 'ids'],
    ['an empty body', () => ({}), 'ids'],
    ['null as ids', () => ({ ids: null, set: { status_id: 2 } }), 'ids'],
    [
      'both ids and filter',
      (id) => ({ ids: [id], filter: { severity: ['High'] }, set: { status_id: 2 } }),
      'filter',
    ],
    ['an empty filter', () => ({ filter: {}, set: { status_id: 2 } }), 'filter'],
    ['an unknown filter', () => ({ filter: { stauts_id: [1] }, set: { status_id: 2 } }), 'filter.stauts_id'],
    [
      'a filter with brackets',
      () => ({ filter: { 'status_id[]': [1] }, set: { status_id: 2 } }),
      'filter.status_id[]',
    ],
    [
      'an unknown filter beside a known one',
      () => ({ filter: { status_id: [1], more: 1 }, set: { status_id: 2 } }),
      'filter.more',
    ],
    [
      'a parameter that only selects fields',
      () => ({ filter: { include_attachments: true }, set: { status_id: 2 } }),
      'filter.include_attachments',
    ],
    ['an empty list', () => ({ filter: { status_id: [] }, set: { status_id: 2 } }), 'filter.status_id'],
    ['an empty search', () => ({ filter: { search: '' }, set: { status_id: 2 } }), 'filter.search'],
    ['null for a filter', () => ({ filter: { search: null }, set: { status_id: 2 } }), 'filter.search'],
    [
      'null for a list',
      () => ({ filter: { severity: ['High'], status_id: null }, set: { status_id: 2 } }),
      'filter.status_id',
    ],
    [
      'an unknown value',
      () => ({ filter: { severity: ['high'] }, set: { status_id: 2 } }),
      'filter.severity.0',
    ],
    [
      'an invalid time',
      () => ({ filter: { updated_since: 'yesterday' }, set: { status_id: 2 } }),
      'filter.updated_since',
    ],
    ['no set', (id) => ({ ids: [id] }), 'set'],
    ['an empty set', (id) => ({ ids: [id], set: {} }), 'set'],
    ['a set of nulls', (id) => ({ ids: [id], set: { status_id: null } }), 'set'],
    ['an unknown member of set', (id) => ({ ids: [id], set: { status_id: 2, title: 'x' } }), 'set.title'],
    [
      'both tag_list and add_tags',
      (id) => ({ ids: [id], set: { tag_list: ['a'], add_tags: ['b'] } }),
      'set.add_tags',
    ],
    [
      'both tags and remove_tags',
      (id) => ({ ids: [id], set: { tags: [], remove_tags: ['b'] } }),
      'set.remove_tags',
    ],
    [
      'a tag to add and to remove',
      (id) => ({ ids: [id], set: { add_tags: ['a', 'B'], remove_tags: [' b'] } }),
      'set.remove_tags.0',
    ],
    ['an empty name', (id) => ({ ids: [id], set: { add_tags: [' '] } }), 'set.add_tags.0'],
    ['an empty comment', (id) => ({ ids: [id], set: { status_id: 2 }, comment: '' }), 'comment'],
    ['undo with ids', (id) => ({ undo: 'x', ids: [id] }), 'ids'],
    ['undo with a dry run', () => ({ undo: 'x', dry_run: false }), 'dry_run'],
    ['undo with set', () => ({ undo: 'x', set: { status_id: 2 } }), 'set'],
  ])('returns 422 for %s, and changes nothing', async (_what, body, property) => {
    const [id] = (await make(1)) as [number];
    const response = await bulk(body(id));
    expect([response.status, response.body.failedValidation?.[0].property]).toEqual([422, property]);
    expect(await rowOf(id)).toMatchObject({ status_id: 1, version: 1 });
  });

  it('returns 400 for values of the wrong type', async () => {
    for (const body of [
      { ids: ['1'], set: { status_id: 2 } },
      { filter: { status_id: 1 }, set: { status_id: 2 } },
      { filter: [], set: { status_id: 2 } },
      { filter: { search: 1 }, set: { status_id: 2 } },
      { ids: [1], set: { status_id: '2' } },
      { ids: [1], set: { status_id: 2 }, dry_run: 'yes' },
    ])
      expect((await bulk(body)).status).toBe(400);
  });
});

describe('Operation 30: filter', () => {
  it('updates the vulnerabilities that match and that the caller can see', async () => {
    const [a, b] = (await make(2, { severity: 'Low' })) as [number, number];
    const [c] = (await make(1, { severity: 'Medium', title: 'Needle in it' })) as [number];
    const otherOrganization = await fixtures.organization();
    const [foreign] = (await make(
      1,
      { severity: 'Low' },
      (await fixtures.assessment(otherOrganization.uid)).uid,
    )) as [number];
    const response = await bulk({ filter: { severity: ['Low'], status_id: [1, 2] }, set: { status_id: 3 } });
    expect(bodyOf(response)).toEqual({
      matched_count: 2,
      updated_count: 2,
      ids: [a, b],
      dry_run: false,
      truncated: false,
    });
    expect(bodyOf(await bulk({ filter: { search: 'NEEDLE' }, set: { status_id: 3 } })).ids).toEqual([c]);
    expect(await rowOf(foreign)).toMatchObject({ status_id: 1 });
    const noMatch = await bulk({ filter: { id: [foreign, UNKNOWN_ID] }, set: { status_id: 3 } });
    expect(bodyOf(noMatch)).toMatchObject({ matched_count: 0, updated_count: 0, ids: [] });
    const narrowed = await bulk(
      { filter: { organization_uid: [otherOrganization.uid], severity: ['Low'] }, set: { status_id: 4 } },
      staff.token,
    );
    expect(bodyOf(narrowed).ids).toEqual([foreign]);
  });

  it('supports each filter of the list', async () => {
    const group = await fixtures.group(organization.uid);
    const grouped = await fixtures.assessment(organization.uid, undefined, group.id);
    const tag = await fixtures.vulnerabilityTag(organization.uid, 'Findable');
    const asset = await fixtures.asset({ organization: organization.uid });
    const [plain] = (await make(1, { statusId: 2, title: 'Plain' })) as [number];
    now += 60_000;
    const [id] = (await make(
      1,
      { severity: 'Low', statusId: 5, title: 'A Särch', description: 'Deep water', tagIds: [tag.id] },
      grouped.uid,
    )) as [number];
    const { db } = server.context;
    await db.write(async (tx) => {
      await changeCounted(tx, id, {
        source: 'nessus',
        cve_ids: '["CVE-2021-44228"]',
        import_id: 77,
        created_by: admin.id,
        assignee_id: admin.id,
        due_on: '2026-12-01',
        retest_status: 'failed',
      });
      await tx
        .insertInto('vulnerability_assets')
        .columns(['organization_id', 'vulnerability_id', 'asset_id'])
        .expression((eb) =>
          eb
            .selectFrom('assets')
            .select(({ val }) => ['organization_id', val(id).as('vulnerability_id'), 'id as asset_id'])
            .where('uid', '=', asset.uid),
        )
        .execute();
    });
    const importId = await insertImport(server, { organizationId: organization.id });
    await insertGoneFindings(server, { ids: [id], by: importId, at: now });
    const filters: object[] = [
      { search: 'sÄRCH' },
      { search: 'DEEP' },
      { search: 'findable' },
      { search: grouped.uid },
      { status_id: [5, 6] },
      { phase: ['closed'] },
      { severity: ['Low', 'Informational'] },
      { tag_id: [tag.id] },
      { tag: ['fINDABLE'] },
      { assessment_id: [grouped.uid] },
      { assessment_group_id: [group.id] },
      { asset_uid: [asset.uid] },
      { source: ['nessus'] },
      { cve: ['cve-2021-44228'] },
      { import_id: [77] },
      { gone: true },
      { gone_import_id: [importId] },
      { created_by: [admin.id] },
      { assignee_id: [admin.id] },
      { due_until: '2026-12-02' },
      { retest: ['failed'] },
      { id: [id, UNKNOWN_ID] },
      { updated_since: new Date(now).toISOString() },
      { updated_within: 59 },
      { created_since: new Date(now).toISOString() },
    ];
    const dry = async (filter: object) =>
      bodyOf(await bulk({ filter, set: { due_on: '2028-01-01' }, dry_run: true })).ids;
    for (const filter of filters) expect([filter, await dry(filter)]).toEqual([filter, [id]]);
    expect(await dry({ organization_uid: [organization.uid] })).toEqual([plain, id]);
    expect(await dry(Object.assign({}, ...filters, { search: 'särch' }))).toEqual([id]);
    for (const filter of [
      { due_until: '2026-12-01' },
      { gone: false, id: [id] },
      { gone_import_id: [importId + 1] },
      { search: 'de' },
      { tag: ['Find'] },
      { cve: ['CVE-2021-4422'] },
    ])
      expect(await dry(filter)).toEqual([]);
  });

  it('returns 409 if expected_count differs from the number of matches', async () => {
    const ids = await make(3);
    const body = { filter: { status_id: [1] }, set: { status_id: 2, add_tags: ['new'] }, expected_count: 2 };
    for (const dry_run of [true, false])
      expectProblem(server, await bulk({ ...body, dry_run }), {
        area: 'v1',
        status: 409,
        kind: 'conflict',
        failedValidation: [{ property: 'expected_count', message: 'must be 3', value: '2' }],
      });
    expect(await rowOf(ids[0] as number)).toMatchObject({ version: 1 });
    const tags = await server.context.db.read
      .selectFrom('vulnerability_tags')
      .select('id')
      .where('organization_id', '=', organization.id)
      .execute();
    expect(tags).toEqual([]);
    expect(bodyOf(await bulk({ ...body, expected_count: 3 })).updated_count).toBe(3);
    expect(bodyOf(await bulk({ ...body, expected_count: 0 }))).toMatchObject({ matched_count: 0 });
  });

  it('returns 413 for more than 10,000 matches, and returns at most 1,000 ids', async () => {
    const [first] = (await make(1)) as [number];
    const { db } = server.context;
    const {
      id: _id,
      severity_rank: _rank,
      reported_at: _reported,
      ...row
    } = await db.read
      .selectFrom('vulnerabilities')
      .selectAll()
      .where('id', '=', first)
      .executeTakeFirstOrThrow();
    // Doubles the rows until there are enough.
    const columns = Object.keys(row) as (keyof typeof row)[];
    for (let count = 1; count < 10_001; count *= 2) {
      const copies = db.read
        .selectFrom('vulnerabilities')
        .select(columns)
        .where('assessment_id', '=', row.assessment_id)
        .limit(10_001 - count);
      await db.write((tx) => tx.insertInto('vulnerabilities').columns(columns).expression(copies).execute());
    }
    // Rows inserted directly need their counters inserted too.
    const counted = countedFieldsOf(row, { tags: [], assets: [] });
    const sums = new DeltaAccumulator();
    sums.add(counterDeltas(null, counted), 10_000);
    await db.write((tx) => insertDeltas(tx, sums.rows()));
    const body = { filter: { status_id: [1] }, set: { status_id: 2 } };
    expectProblem(server, await bulk(body), {
      area: 'v1',
      status: 413,
      kind: 'batch-too-large',
      maxBatchSize: 10_000,
      batchSize: 10_001,
    });
    expect(await rowOf(first)).toMatchObject({ version: 1 });
    await db.write(async (tx) => {
      await tx.deleteFrom('vulnerabilities').where('id', '=', first).execute();
      await addDeltas(tx, counterDeltas(counted, null));
    });
    const done = await bulk({ ...body, set: { status_id: 2, add_tags: ['one', 'two'] } });
    expect(bodyOf(done)).toMatchObject({ matched_count: 10_000, updated_count: 10_000, truncated: true });
    expect(bodyOf(done).ids).toHaveLength(1_000);
    const undone = await bulk({ undo: idOf(done) });
    expect(bodyOf(undone)).toMatchObject({ updated_count: 10_000, kept_count: 0, truncated: true });
  });
});

describe('Operation 30: tags', () => {
  it('replaces tags by id, name and object', async () => {
    const firstTag = await fixtures.vulnerabilityTag(organization.uid, 'one');
    const secondTag = await fixtures.vulnerabilityTag(organization.uid, 'two');
    const ids = await make(2, { tagIds: [firstTag.id] });
    await bulk({
      ids,
      set: {
        tags: [{ id: secondTag.id, name: 'two', editable: true }],
        tag_list: ['Three', { name: 'TWO' }],
      },
    });
    for (const id of ids) expect(await tagsOf(id)).toEqual(['two', 'Three']);
    expect(
      bodyOf(await bulk({ ids, set: { tags: [secondTag.id], tag_list: ['three'] } })).updated_count,
    ).toBe(0);
    await bulk({ ids, set: { tags: [] } });
    for (const id of ids) expect(await tagsOf(id)).toEqual([]);
  });

  it('adds and removes tags by name, and ignores names that no vulnerability has', async () => {
    const tag = await fixtures.vulnerabilityTag(organization.uid, 'one');
    const [a, b] = (await make(2)) as [number, number];
    await bulk({ ids: [a], set: { tags: [tag.id] } });
    const response = await bulk({
      ids: [a, b],
      set: { add_tags: ['New', 'new '], remove_tags: ['ONE', 'never'] },
    });
    expect(bodyOf(response).updated_count).toBe(2);
    expect([await tagsOf(a), await tagsOf(b)]).toEqual([['New'], ['New']]);
    expect(bodyOf(await bulk({ ids: [a, b], set: { remove_tags: ['never'] } })).updated_count).toBe(0);
  });

  it('creates tags in the organization of each vulnerability', async () => {
    const otherOrganization = await fixtures.organization();
    const [own] = (await make(1)) as [number];
    const [foreign] = (await make(1, {}, (await fixtures.assessment(otherOrganization.uid)).uid)) as [number];
    await bulk({ ids: [own, foreign], set: { add_tags: ['both'] } }, staff.token);
    expect([await tagsOf(own), await tagsOf(foreign)]).toEqual([['both'], ['both']]);
  });

  it('returns 422 for the id of a tag outside the organization of a vulnerability', async () => {
    const otherOrganization = await fixtures.organization();
    const ownTag = await fixtures.vulnerabilityTag(organization.uid);
    const foreign = await fixtures.vulnerabilityTag(otherOrganization.uid);
    const [own] = (await make(1)) as [number];
    const [theirs] = (await make(1, {}, (await fixtures.assessment(otherOrganization.uid)).uid)) as [number];
    for (const id of [foreign.id, UNKNOWN_ID])
      expectProblem(server, await bulk({ ids: [own], set: { status_id: 2, tags: [ownTag.id, id] } }), {
        ...invalid,
        failedValidation: [
          {
            property: 'set.tags.1',
            message: 'is not the id of a vulnerability tag of the organization',
            value: String(id),
          },
        ],
      });
    expect((await bulk({ ids: [own, theirs], set: { tags: [ownTag.id] } }, staff.token)).status).toBe(422);
    expect(await rowOf(own)).toMatchObject({ status_id: 1, version: 1 });
  });
});

describe('Operation 30: dry run', () => {
  it('returns the result and writes nothing', async () => {
    const [a, b] = (await make(2)) as [number, number];
    await bulk({ ids: [a], set: { status_id: 2, add_tags: ['there'] } });
    const events = (await fixtures.auditEvents()).length;
    const body = { ids: [a, b], comment: 'Nothing.', dry_run: true };
    const response = await bulk({ ...body, set: { status_id: 2, add_tags: ['there'] } });
    expect(bodyOf(response)).toEqual({
      matched_count: 2,
      updated_count: 1,
      ids: [b],
      dry_run: true,
      truncated: false,
    });
    expect(bodyOf(await bulk({ ...body, set: { add_tags: ['new'] } })).ids).toEqual([a, b]);
    expect(bodyOf(await bulk({ ...body, set: { tag_list: ['new'] } })).ids).toEqual([a, b]);
    expect(await rowOf(b)).toMatchObject({ status_id: 1, version: 1 });
    expect((await fixtures.auditEvents()).length).toBe(events);
    expect((await bulk({ undo: idOf(response) })).status).toBe(422);
  });
});

describe('Operation 30: audit log and timeline', () => {
  it('records one audit event, and a timeline entry for each changed vulnerability', async () => {
    const tag = await fixtures.vulnerabilityTag(organization.uid, 'old');
    const [a, b] = (await make(2, { tagIds: [tag.id] })) as [number, number];
    const response = await bulk({
      ids: [a, b],
      set: { status_id: 5, severity: 'Low', due_on: '2027-01-31', tag_list: ['new'] },
    });
    const [created] = await server.context.db.read
      .selectFrom('vulnerability_tags')
      .select('id')
      .where('organization_id', '=', organization.id)
      .where('name', '=', 'new')
      .execute();
    const before = { status_id: 1, severity: 'High', due_on: null, tags: [tag.id] };
    const after = { status_id: 5, severity: 'Low', due_on: '2027-01-31', tags: [created?.id] };
    expect(await eventsOf(idOf(response))).toEqual([
      { id: a, before, after },
      { id: b, before, after },
    ]);
    expect(await timelineOf(b)).toEqual([
      {
        kind: 'edited',
        before: { severity: 'High', due_on: null },
        after: { severity: 'Low', due_on: '2027-01-31' },
      },
      {
        kind: 'status',
        before: { status_id: 1, status: 'Pending Review' },
        after: { status_id: 5, status: 'Fixed' },
      },
      {
        kind: 'tags',
        before: { tags: [{ id: tag.id, name: 'old' }] },
        after: { tags: [{ id: created?.id, name: 'new' }] },
      },
    ]);
  });

  it('comments on each match, changed or not', async () => {
    const [a, b] = (await make(2)) as [number, number];
    await bulk({ ids: [a], set: { status_id: 2 } });
    now += 1_000;
    const response = await bulk({ ids: [a, b], set: { status_id: 2 }, comment: 'Seen by **all**.' });
    expect(bodyOf(response)).toMatchObject({ matched_count: 2, updated_count: 1, ids: [b] });
    for (const id of [a, b]) {
      const { body } = await server.request('GET', `/v1/vulnerabilities/${id}/comments`, {
        token: admin.token,
      });
      expect(body).toMatchObject([
        { text: 'Seen by **all**.', internal: false, user: { id: admin.id }, created_at: expect.any(String) },
      ]);
      expect((await timelineOf(id)).map(({ kind }) => kind)).toEqual(['status', 'comment']);
      expect(await rowOf(id)).toMatchObject({ updated_at: now, version: 2 });
    }
    expect((await eventsOf(idOf(response), 'comment.create')).map(({ after }) => after)).toEqual(
      [a, b].map((id) => ({ vulnerability: id, text: 'Seen by **all**.', internal: false })),
    );
  });

  it('updates the counters', async () => {
    const asset = await fixtures.asset({ organization: organization.uid });
    const ids = await make(3);
    const { db } = server.context;
    const { id: assetId } = await db.read
      .selectFrom('assets')
      .select('id')
      .where('uid', '=', asset.uid)
      .executeTakeFirstOrThrow();
    await db.write((tx) =>
      tx
        .insertInto('vulnerability_assets')
        .values({ organization_id: organization.id, vulnerability_id: ids[0] as number, asset_id: assetId })
        .execute(),
    );
    const before = await counts();
    const done = await bulk({ ids, set: { status_id: 5, severity: 'Low', add_tags: ['counted'] } });
    const { id: tag } = await db.read
      .selectFrom('vulnerability_tags')
      .select('id')
      .where('organization_id', '=', organization.id)
      .executeTakeFirstOrThrow();
    const after = await counts();
    const changed = (key: string) => (after[key] ?? 0) - (before[key] ?? 0);
    expect(changed(`organization ${organization.id} 1:3:0`)).toBe(-3);
    expect(changed(`organization ${organization.id} 5:1:0`)).toBe(3);
    expect(changed(`vulnerability-tag ${tag} all`)).toBe(3);
    expect([changed(`asset ${assetId} open`), changed(`asset ${assetId} closed`)]).toEqual([-1, 1]);
    await bulk({ undo: idOf(done) });
    expect(await counts()).toEqual(before);
  });
});

it('Operation 30: updates vulnerabilities with equal and different previous values together, and undoes it', async () => {
  const oldTag = await fixtures.vulnerabilityTag(organization.uid, 'old');
  const alike = await make(25, { tagIds: [oldTag.id] });
  const closed = await make(3, { statusId: 5 });
  const [lone] = (await make(1, { statusId: 2, severity: 'Low', tagIds: [oldTag.id] })) as [number];
  const ids = [...alike, ...closed, lone];
  const before = { rows: await Promise.all(ids.map(rowOf)), counts: await counts() };
  now += 1_000;
  const set = {
    status_id: 2,
    severity: 'Low',
    due_on: '2027-01-31',
    add_tags: ['new'],
    remove_tags: ['old'],
  };
  const done = await bulk({ ids, set });
  expect(bodyOf(done)).toMatchObject({ updated_count: 29, ids });
  for (const [index, id] of ids.entries()) {
    const moved = id !== lone;
    expect(await rowOf(id)).toEqual({
      ...before.rows[index],
      ...(moved ? { status_id: 2, status_set_at: now, closed_at: null } : {}),
      severity: 'Low',
      severity_rank: 1,
      due_on: '2027-01-31',
      updated_at: now,
      version: 2,
    });
    expect(await tagsOf(id)).toEqual(['new']);
    const previousTags = alike.includes(id) || id === lone ? [{ id: oldTag.id, name: 'old' }] : [];
    expect(await timelineOf(id)).toEqual([
      {
        kind: 'edited',
        before: { ...(moved ? { severity: 'High' } : {}), due_on: null },
        after: { ...(moved ? { severity: 'Low' } : {}), due_on: '2027-01-31' },
      },
      ...(moved
        ? [
            {
              kind: 'status',
              before: expect.objectContaining({ status_id: closed.includes(id) ? 5 : 1 }),
              after: expect.objectContaining({ status_id: 2 }),
            },
          ]
        : []),
      {
        kind: 'tags',
        before: { tags: previousTags },
        after: { tags: [{ id: expect.any(Number), name: 'new' }] },
      },
    ]);
  }
  const events = await eventsOf(idOf(done));
  expect(events.map(({ id }) => id).sort((one, other) => one - other)).toEqual(ids);
  expect(events.find(({ id }) => id === alike[7])).toMatchObject({
    before: { status_id: 1, severity: 'High', due_on: null, tags: [oldTag.id] },
    after: { status_id: 2, severity: 'Low', due_on: '2027-01-31' },
  });
  now += 1_000;
  expect(bodyOf(await bulk({ undo: idOf(done) }))).toMatchObject({ updated_count: 29, kept_count: 0 });
  expect(await Promise.all(ids.map(rowOf))).toEqual(
    before.rows.map((row) => ({ ...row, updated_at: now, version: 3 })),
  );
  expect(await counts()).toEqual(before.counts);
});

describe('Operation 30: undo', () => {
  it('restores vulnerabilities that have not changed since, and returns the number of the others', async () => {
    const tag = await fixtures.vulnerabilityTag(organization.uid, 'old');
    const [a, b, c] = (await make(3, { tagIds: [tag.id], statusId: 5 })) as [number, number, number];
    const before = await rowOf(a);
    now += 1_000;
    const done = await bulk({
      ids: [a, b, c],
      set: { status_id: 2, severity: 'Low', assignee_id: admin.id, due_on: '2027-01-31', tag_list: ['new'] },
    });
    now += 1_000;
    await server.request('PATCH', `/v1/vulnerabilities/${b}`, { token: admin.token, body: { status_id: 3 } });
    await server.request('POST', `/v1/vulnerabilities/${c}/comments`, {
      token: admin.token,
      body: { text: 'No change of it.' },
    });
    now += 1_000;
    const response = await bulk({ undo: idOf(done) });
    expect(bodyOf(response)).toEqual({
      matched_count: 3,
      updated_count: 2,
      ids: [a, c],
      dry_run: false,
      truncated: false,
      kept_count: 1,
    });
    expect(await rowOf(a)).toEqual({ ...before, updated_at: now, version: 3 });
    expect(await tagsOf(a)).toEqual(['old']);
    expect(await rowOf(b)).toMatchObject({ status_id: 3, severity: 'Low', version: 3 });
    const [event] = await eventsOf(idOf(response));
    expect(event).toMatchObject({ id: a, before: { status_id: 2 }, after: { status_id: 5, tags: [tag.id] } });
    expect((await timelineOf(a)).map(({ kind }) => kind)).toEqual([
      'edited',
      'status',
      'tags',
      'edited',
      'status',
      'tags',
    ]);
    // An undo is a change of its own, so a second one restores nothing.
    expect(bodyOf(await bulk({ undo: idOf(done) }))).toMatchObject({ updated_count: 0, kept_count: 3 });
    // An undo can be undone.
    expect(bodyOf(await bulk({ undo: idOf(response) }))).toMatchObject({ updated_count: 2, ids: [a, c] });
    expect(await rowOf(a)).toMatchObject({ status_id: 2, severity: 'Low', version: 4 });
  });

  it('skips deleted tags, deleted vulnerabilities and those that the caller cannot see', async () => {
    const tag = await fixtures.vulnerabilityTag(organization.uid, 'old');
    const member = await fixtures.user({ organization: organization.uid });
    const otherAssessment = await fixtures.assessment(organization.uid);
    await fixtures.access(assessment, member.id);
    await fixtures.access(otherAssessment.uid, member.id);
    const [a, deleted] = (await make(2, { tagIds: [tag.id] })) as [number, number];
    const [inOtherAssessment] = (await make(1, {}, otherAssessment.uid)) as [number];
    const done = await bulk(
      { ids: [a, deleted, inOtherAssessment], set: { tags: [], status_id: 2 } },
      member.token,
    );
    const { db } = server.context;
    await server.request('DELETE', `/v1/vulnerabilities/${deleted}`, { token: admin.token });
    await db.write((tx) =>
      tx.deleteFrom('assessment_access').where('assessment_id', '=', otherAssessment.id).execute(),
    );
    await server.request('DELETE', `/v1/vulnerability_tags/${tag.id}`, { token: admin.token });
    expect(bodyOf(await bulk({ undo: idOf(done) }, member.token))).toMatchObject({
      updated_count: 1,
      ids: [a],
      kept_count: 2,
    });
    expect([await tagsOf(a), (await rowOf(a)).status_id, (await rowOf(inOtherAssessment)).status_id]).toEqual(
      [[], 1, 2],
    );
  });

  it('skips an assignee who was banned or lost access', async () => {
    const otherAssessment = await fixtures.assessment(organization.uid);
    const [leaving, banned, staying] = [
      await fixtures.user({ organization: organization.uid }),
      await fixtures.user({ organization: organization.uid }),
      await fixtures.user({ organization: organization.uid }),
    ];
    for (const user of [leaving, banned, staying])
      for (const uid of [assessment, otherAssessment.uid]) await fixtures.access(uid, user.id);
    const [a, b, c] = (await Promise.all(
      [leaving, banned, staying].map(async ({ id }) => (await make(1, { assigneeId: id }))[0]),
    )) as [number, number, number];
    const [inOtherAssessment] = (await make(1, { assigneeId: leaving.id }, otherAssessment.uid)) as [number];
    const [single] = (await make(1, { assigneeId: leaving.id })) as [number];
    const ids = [a, b, c, inOtherAssessment];
    const done = await bulk({ ids, set: { status_id: 2, assignee_id: null } });
    const assigneeAlone = await bulk({ ids: [single], set: { assignee_id: null } });
    await server.context.db.write(async (tx) => {
      await tx
        .deleteFrom('assessment_access')
        .where('user_id', '=', leaving.id)
        .where('assessment_id', '<>', otherAssessment.id)
        .execute();
      await tx.updateTable('users').set({ banned_at: now }).where('id', '=', banned.id).execute();
    });
    expect(bodyOf(await bulk({ undo: idOf(done) }))).toMatchObject({ updated_count: 4, kept_count: 0 });
    const rows = await Promise.all(ids.map(rowOf));
    expect(rows.map((row) => [row.status_id, row.assignee_id])).toEqual([
      [1, null],
      [1, null],
      [1, staying.id],
      [1, leaving.id],
    ]);
    expect(bodyOf(await bulk({ undo: idOf(assigneeAlone) }))).toMatchObject({
      updated_count: 0,
      kept_count: 1,
    });
  });

  it('changes nothing if the update changed nothing', async () => {
    const ids = await make(1);
    const noChange = { matched_count: 0, updated_count: 0, ids: [], kept_count: 0 };
    const unchanged = await bulk({ ids, set: { status_id: 1 } });
    const undone = await bulk({ undo: idOf(unchanged) });
    expect(bodyOf(undone)).toMatchObject(noChange);
    expect(bodyOf(await bulk({ undo: idOf(undone) }))).toMatchObject(noChange);
    expect(await rowOf(ids[0] as number)).toMatchObject({ status_id: 1, version: 1 });
  });

  it("returns 422 unless the id is of the caller's own bulk update within the last hour", async () => {
    const ids = await make(1);
    const refuse = async (undo: string | null, token?: string) =>
      expectProblem(server, await bulk({ undo }, token), {
        ...invalid,
        failedValidation: [
          {
            property: 'undo',
            message: 'must be the X-Request-Id of a bulk change that you made within the last hour',
            value: undo,
          },
        ],
      });
    const recent = await bulk({ ids: await make(1), set: { status_id: 2 } });
    const done = await bulk({ ids, set: { status_id: 2 } });
    await refuse('no-such-request');
    await refuse(idOf(done), (await fixtures.user({ organization: organization.uid, admin: true })).token);
    await refuse(idOf(done), staff.token);
    now += HOUR - 1;
    expect((await bulk({ undo: idOf(recent) })).status).toBe(200);
    now += 1;
    await refuse(idOf(done));
  });
});

describe('Operation 30: Idempotency-Key', () => {
  it('updates once per key', async () => {
    const ids = await make(1);
    const key = { 'idempotency-key': `key ${organization.uid}`.replace(' ', '-') };
    const body = { ids, set: { status_id: 2 } };
    const first = await bulk(body, admin.token, key);
    await bulk({ ids, set: { status_id: 3 } });
    const repeated = await bulk(body, admin.token, key);
    expect([repeated.status, repeated.text]).toEqual([200, first.text]);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect(await rowOf(ids[0] as number)).toMatchObject({ status_id: 3 });
    expect((await bulk({ ids, set: { status_id: 4 } }, admin.token, key)).status).toBe(422);
  });
});

it('Operation 30: applies concurrent updates of the same vulnerabilities one after the other', async () => {
  const ids = await make(20);
  const responses = await Promise.all(
    [2, 3, 4, 5].map((status) =>
      bulk({ ids: ids.toReversed(), set: { status_id: status, tag_list: [`t${status}`] } }),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const rows = await Promise.all(ids.map(async (id) => `${(await rowOf(id)).status_id} ${await tagsOf(id)}`));
  expect(new Set(rows).size).toBe(1);
  expect(rows[0]).toMatch(/^([2-5]) t\1$/);
  expect(await rowOf(ids[0] as number)).toMatchObject({ version: 5 });
});

/** SQLite has one writer at a time: nothing changes between the filter and the lock. */
describe.runIf(engine() === 'postgres')('Operation 30: a filter whose matches change while it waits', () => {
  const waiting = CompiledQuery.raw(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  /** Sends an update that waits for a transaction, which changes the vulnerability and commits. */
  async function updateDuring(changed: number, body: object) {
    const { db } = server.context;
    let sent: ReturnType<typeof bulk> | undefined;
    await db.write(async (tx) => {
      await changeCounted(tx, changed, { status_id: 3, version: 2 });
      sent = bulk(body);
      await expect.poll(async () => (await db.read.executeQuery(waiting)).rows.length > 0).toBe(true);
    });
    return sent!;
  }

  it('updates only what still matches', async () => {
    const ids = (await make(3)) as [number, number, number];
    const body = { filter: { status_id: [1] }, set: { status_id: 2 }, comment: 'Seen.' };
    const response = await updateDuring(ids[1], body);
    expect(bodyOf(response)).toMatchObject({ matched_count: 2, updated_count: 2, ids: [ids[0], ids[2]] });
    expect(await rowOf(ids[1])).toMatchObject({ status_id: 3, version: 2 });
    expect(await timelineOf(ids[1])).toEqual([]);
  });

  it('compares the expected number with what still matches', async () => {
    const ids = (await make(3)) as [number, number, number];
    const body = { filter: { status_id: [1] }, set: { status_id: 2 }, expected_count: 3 };
    const response = await updateDuring(ids[0], body);
    expect([response.status, response.body.failedValidation?.[0].property]).toEqual([409, 'expected_count']);
    expect(await rowOf(ids[1])).toMatchObject({ status_id: 1, version: 1 });
  });
});
