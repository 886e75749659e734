import { CompiledQuery, type Kysely, type RootOperationNode } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, operatorCaller } from '../../src/auth/callers.ts';
import type { ReadConnection } from '../../src/db/database.ts';
import type { ListContext } from '../../src/domain/lists/filters.ts';
import { vulnerabilityList } from '../../src/domain/vulnerabilities/vulnerability-list.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { insertGoneFindings, insertImport } from '../harness/imports.ts';
import { engine, useOwnServer } from '../harness/server.ts';

const ROWS = 20_000;
/** Rows read for a page of 50 without a filter: twice its rows, and one of each run. */
const MOST_ALONE = 250;
/** With a filter: the windows, the ids that it selects, and their rows. */
const MOST_FILTERED = 6_000;
const SIZES = { shortWindow: 600, longWindow: 2_000, maxReadOffset: 1_000 };
const NOW = Date.UTC(2026, 10, 30);
const DAY = 86_400_000;
const SEVERITIES = ['Critical', 'High', 'Medium', 'Low', 'Informational'] as const;
const SORTS = ['resolvedAt', 'updatedAt', 'severity', 'cvssScore', 'statusId', 'title', 'dueOn'] as const;
const ORDERS = SORTS.flatMap((sort) => [false, true].map((descending) => ({ sort, descending })));

const server = await useOwnServer();
const fixtures = createFixtures(server);
const { db } = server.context;
const isRare = (index: number) => index % 200 === 7;
/** The values of filters that the data decides. */
const selected = { organization: 0, user: 0, tag: 0, group: 0, importId: 0, asset: '', id: 0 };
let caller: Caller;
let seed = 7;
const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;

beforeAll(async () => {
  const { id: organizationId } = await fixtures.organization('acme');
  const group = await fixtures.group('acme');
  const large = await fixtures.assessment('acme', 'acme-large');
  const small = await fixtures.assessment('acme', 'acme-small', group.id);
  const user = await fixtures.user({ organization: 'acme' });
  const tag = await fixtures.vulnerabilityTag('acme', 'Special');
  const asset = await fixtures.asset({ organization: 'acme' });
  const importId = await insertImport(server, { organizationId });
  const description = engine() === 'postgres' ? 'word '.repeat(200) : '';
  const ids: number[] = [];
  for (let start = 0; start < ROWS; start += 500) {
    const values = Array.from({ length: 500 }, (_, index) => {
      const number = start + index;
      const status = 1 + random(9);
      const createdAt = NOW - DAY * 90 + Math.floor(number / 50) * 3_600_000;
      return {
        organization_id: organizationId,
        assessment_id: isRare(number) ? small.id : large.id,
        title: `Finding ${random(300)}`,
        // Long on PostgreSQL, so that its planner takes the index of words; with few trigrams, which are written fast.
        description,
        severity: SEVERITIES[random(5)] ?? 'Low',
        status_id: status,
        status_set_at: createdAt,
        closed_at: status >= 5 ? createdAt : null,
        cvss_score: random(4) === 0 ? null : random(100) / 10,
        due_on: random(3) === 0 ? `2026-12-${10 + random(20)}` : null,
        created_at: createdAt,
        updated_at: createdAt + random(7) * DAY,
        first_seen_at: createdAt,
        created_by: isRare(number) ? user.id : null,
        assignee_id: isRare(number) ? user.id : null,
        source: random(3) === 0 ? 'zap' : 'manual',
        cve_ids: isRare(number) ? '["CVE-2026-1234"]' : '[]',
        retest_status: isRare(number) ? ('requested' as const) : null,
        import_id: isRare(number) ? importId : null,
        search_description: description,
        search_title: isRare(number) ? 'finding rare\ncve 2026 1234' : 'finding',
      };
    });
    const rows = await db.write((tx) =>
      tx.insertInto('vulnerabilities').values(values).returning('id').execute(),
    );
    ids.push(...rows.map(({ id }) => id));
  }
  // Planners read tables with few rows as a whole.
  const others = {
    tag: await fixtures.vulnerabilityTag('acme', 'Common'),
    asset: await fixtures.asset({ organization: 'acme' }),
  };
  for (let start = 0; start < ROWS; start += 2_000) {
    const links = ids.slice(start, start + 2_000).map((id, index) => ({
      organization_id: organizationId,
      vulnerability_id: id,
      isRare: isRare(start + index),
    }));
    await db.write(async (tx) => {
      await tx
        .insertInto('vulnerability_taggings')
        .values(
          links.map(({ isRare: rare, ...link }) => ({ ...link, tag_id: rare ? tag.id : others.tag.id })),
        )
        .execute();
      await tx
        .insertInto('vulnerability_assets')
        .values(
          links.map(({ isRare: rare, ...link }) => ({
            ...link,
            asset_id: rare ? asset.id : others.asset.id,
          })),
        )
        .execute();
      await tx
        .insertInto('scanner_findings')
        .values(
          links.flatMap(({ isRare: rare, ...link }) =>
            rare
              ? []
              : [
                  {
                    ...link,
                    assessment_id: large.id,
                    identity_hash: String(link.vulnerability_id),
                    source: 'zap',
                    content_hash: '',
                  },
                ],
          ),
        )
        .execute();
    });
  }
  const rare = ids.filter((_, index) => isRare(index));
  await insertGoneFindings(server, { ids: rare, by: importId, at: NOW });
  Object.assign(selected, {
    organization: organizationId,
    user: user.id,
    tag: tag.id,
    group: group.id,
    importId,
    asset: asset.uid,
    id: ids[17] ?? 0,
  });
  caller = {
    ...operatorCaller('a list'),
    kind: 'user',
    staff: false,
    organizationId,
  };
  // As autovacuum does in time.
  if (engine() === 'postgres') await db.write((tx) => tx.executeQuery(CompiledQuery.raw('analyze')));
});

type Filters = Parameters<typeof vulnerabilityList.read>[1]['filters'];

/** Each filter of the console, with a value that selects few rows and one that selects many. */
const FILTERS: Record<string, () => Filters> = {
  'a rare text': () => ({ search: 'rare' }),
  'a common text': () => ({ search: 'finding' }),
  'a number': () => ({ search: `#${selected.id}` }),
  'a status': () => ({ statusId: [3] }),
  'open ones': () => ({ phase: ['new', 'open'] }),
  'closed ones': () => ({ phase: ['closed'] }),
  'a severity': () => ({ severity: ['Critical'] }),
  'two severities': () => ({ severity: ['High', 'Low'] }),
  'a tag': () => ({ tagId: [selected.tag] }),
  'the name of a tag': () => ({ tag: ['special'] }),
  'a large assessment': () => ({ assessmentId: ['acme-large'] }),
  'a small assessment': () => ({ assessmentId: ['acme-small'] }),
  'a group': () => ({ assessmentGroupId: [selected.group] }),
  'an asset': () => ({ assetUid: [selected.asset] }),
  'a source': () => ({ source: ['zap'] }),
  'a CVE': () => ({ cve: ['CVE-2026-1234'] }),
  'an import': () => ({ importId: [selected.importId] }),
  gone: () => ({ gone: true }),
  'not gone': () => ({ gone: false }),
  'gone in an import': () => ({ goneImportId: [selected.importId] }),
  'a reporter': () => ({ createdBy: [selected.user] }),
  'an assignee': () => ({ assigneeId: [selected.user] }),
  'a due day': () => ({ dueUntil: '2026-12-12' }),
  'a retest': () => ({ retest: ['requested'] }),
  'an id': () => ({ id: [selected.id] }),
  'the last change': () => ({ updatedSince: NOW - 70 * DAY }),
  'the last minutes': () => ({ updatedWithin: 600 }),
  'reported lately': () => ({ createdSince: NOW - 74 * DAY }),
  'reported long ago': () => ({ createdUntil: NOW - 89 * DAY }),
};

/** Filters that leave an order to its index. */
const UNFILTERED: readonly Filters[] = [{}, { organizationUid: ['acme'] }];

/** Reads a page, and returns the statements that select its rows. */
async function statementsOf(
  request: { filters: Filters; sort: (typeof SORTS)[number]; descending: boolean },
  reader: Caller = caller,
) {
  const statements: CompiledQuery[] = [];
  const read = db.read as unknown as Kysely<never>;
  const recording = Object.assign(
    read.withPlugin({
      transformQuery({ node, queryId }) {
        statements.push(read.getExecutor().compileQuery(node as RootOperationNode, queryId));
        return node;
      },
      transformResult: async ({ result }) => result,
    }),
    { engine: db.engine },
  ) as unknown as ReadConnection;
  const context: ListContext = { db: recording, caller: reader, now: NOW, readSizes: SIZES };
  await vulnerabilityList.positions(context, request, 0, 0, 51);
  return statements;
}

interface PlanNode {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/** @returns how many rows of large tables the statement reads on PostgreSQL */
async function rowsRead({ sql, parameters }: CompiledQuery): Promise<number> {
  const { rows } = await db.read.executeQuery<Record<string, [{ Plan: PlanNode }]>>(
    CompiledQuery.raw(`explain (analyze, timing off, format json) ${sql}`, [...parameters]),
  );
  const countOf = (node: PlanNode): number =>
    (node['Relation Name'] === undefined
      ? 0
      : node['Actual Loops'] *
        (node['Actual Rows'] +
          (node['Rows Removed by Filter'] ?? 0) +
          (node['Rows Removed by Index Recheck'] ?? 0))) +
    (node.Plans ?? []).reduce((sum, plan) => sum + countOf(plan), 0);
  const [plan] = rows[0]?.['QUERY PLAN'] ?? [];
  return plan === undefined ? Number.NaN : countOf(plan.Plan);
}

/** @returns the steps of SQLite's plan */
async function stepsOf({ sql, parameters }: CompiledQuery): Promise<string[]> {
  const { rows } = await db.read.executeQuery<{ detail: string }>(
    CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
  );
  return rows.map(({ detail }) => detail);
}

it.each([
  { sort: 'resolvedAt', filters: { assigneeId: [1] } },
  { sort: 'resolvedAt', filters: { statusId: [3] } },
  { sort: 'title', filters: { statusId: [3] } },
  { sort: 'cvssScore', filters: { statusId: [3] } },
  { sort: 'dueOn', filters: { statusId: [3] } },
] as const)(
  'tests a window of rows by $sort for what its index lacks: $filters',
  async ({ sort, filters }) => {
    const staff: Caller = { ...caller, staff: true, organizationId: null };
    const reader = sort === 'resolvedAt' ? staff : caller;
    const [first] = await statementsOf({ filters, sort, descending: true }, reader);
    expect(first?.sql).toContain(`limit ${SIZES.shortWindow}`);
  },
);

describe.runIf(engine() === 'postgres')('PostgreSQL reads few rows', () => {
  const totalOf = async (statements: readonly CompiledQuery[]) => {
    let total = 0;
    for (const statement of statements) total += await rowsRead(statement);
    return total;
  };

  it.each(ORDERS)('by $sort, descending: $descending', async (order) => {
    for (const filters of UNFILTERED)
      expect(await totalOf(await statementsOf({ filters, ...order }))).toBeLessThan(MOST_ALONE);
  });

  it.each(Object.keys(FILTERS))('with %s', async (name) => {
    const filters = FILTERS[name]?.() ?? {};
    for (const order of ORDERS) {
      const read = await totalOf(await statementsOf({ filters, ...order }));
      expect(read, `${order.sort}, descending: ${order.descending}`).toBeLessThan(MOST_FILTERED);
    }
  });
});

describe.runIf(engine() === 'sqlite')('SQLite seeks in an index', () => {
  it.each(ORDERS)('by $sort, descending: $descending', async (order) => {
    for (const filters of UNFILTERED) {
      const statements = await statementsOf({ filters, ...order });
      for (const statement of statements.filter(({ sql }) => sql.includes('position_value'))) {
        const steps = await stepsOf(statement);
        expect(
          steps.filter((step) => !/^SEARCH vulnerabilities USING .*\(organization_id=/.test(step)),
          `${order.sort}, descending: ${order.descending}`,
        ).toEqual([]);
      }
    }
  });

  /** Whether a statement ends as soon as it has its rows, or its window: nothing waits for all rows to be sorted. */
  const isLimited = (steps: readonly string[]) =>
    steps.includes('CO-ROUTINE vulnerabilities') || !steps.some((step) => step.includes('TEMP B-TREE'));

  it.each(Object.keys(FILTERS))('with %s', async (name) => {
    const filters = FILTERS[name]?.() ?? {};
    for (const order of ORDERS) {
      for (const statement of await statementsOf({ filters, ...order })) {
        if (statement.sql.startsWith('select 1 from')) continue;
        const steps = await stepsOf(statement);
        const slow = steps.filter(
          (step) =>
            /^SCAN (vulnerabilities|vulnerability_taggings|vulnerability_assets|scanner_findings|link|found|inside)\b/.test(
              step,
            ) || /^SEARCH vulnerabilities .*\(organization_id=\?\)$/.test(step),
        );
        expect(
          isLimited(steps) ? [] : slow,
          `${order.sort}, descending: ${order.descending}\n${statement.sql}`,
        ).toEqual([]);
      }
    }
  });
});
