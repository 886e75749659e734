import { beforeAll, expect, it } from 'vitest';
import { operatorCaller } from '../../src/auth/callers.ts';
import type { ListContext } from '../../src/domain/lists/filters.ts';
import { vulnerabilityList } from '../../src/domain/vulnerabilities/vulnerability-list.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { useOwnServer } from '../harness/server.ts';

/** More than the ids of a filter that are read first, so that rows are tested. */
const ROWS = 3_100;
/** Rows that come first by title and match nothing, so that the short window has too few. */
const OTHERS = 10;
const NOW = Date.UTC(2026, 11, 1);
const LIMIT = 50;

const server = await useOwnServer();
const fixtures = createFixtures(server);
let context: ListContext;
let ids: number[] = [];

beforeAll(async () => {
  const { id: organizationId } = await fixtures.organization('acme');
  const other = await fixtures.assessment('acme', 'other');
  const named = await fixtures.assessment('acme', 'checkout-web');
  const tag = await fixtures.vulnerabilityTag('acme', 'Needs a patch');
  const asset = await fixtures.asset({ organization: 'acme', name: 'Payment gateway' });
  await server.context.db.write(async (tx) => {
    for (let start = 0; start < ROWS; start += 500) {
      const rows = await tx
        .insertInto('vulnerabilities')
        .values(
          Array.from({ length: Math.min(500, ROWS - start) }, (_, index) => ({
            organization_id: organizationId,
            assessment_id: start + index < OTHERS ? other.id : named.id,
            title: `Finding ${String(start + index).padStart(5, '0')}`,
            description: '',
            severity: 'Low' as const,
            status_id: 1,
            status_set_at: NOW,
            created_at: NOW,
            updated_at: NOW,
            first_seen_at: NOW,
            search_title: start + index < OTHERS ? 'finding' : 'finding\ncve 2026 1234',
          })),
        )
        .returning('id')
        .execute();
      ids.push(...rows.map(({ id }) => id));
    }
    ids = ids.toSorted((one, next) => one - next);
    for (let start = OTHERS; start < ROWS; start += 1_000) {
      const links = ids
        .slice(start, start + 1_000)
        .map((id) => ({ organization_id: organizationId, vulnerability_id: id }));
      await tx
        .insertInto('vulnerability_taggings')
        .values(links.map((link) => ({ ...link, tag_id: tag.id })))
        .execute();
      await tx
        .insertInto('vulnerability_assets')
        .values(links.map((link) => ({ ...link, asset_id: asset.id })))
        .execute();
    }
  });
  const caller = { ...operatorCaller('a list'), kind: 'user' as const, staff: false, organizationId };
  context = { db: server.context.db.read, caller, now: NOW };
});

const search = async (text: string, longWindow: number) => {
  const readSizes = { shortWindow: 5, longWindow, maxReadOffset: 1_000 };
  const request = { filters: { search: text }, sort: 'title' as const, descending: false };
  const { items } = await vulnerabilityList.read({ ...context, readSizes }, request, 0, LIMIT);
  return items.map(({ id }) => id);
};

it.each([
  ['the name of a tag', 'needs a patch'],
  ['the name of an asset', 'gateway'],
  ['the uid of an assessment', 'checkout'],
  ['its CVE id', 'cve-2026-1234'],
])('tests the rows of a window for %s', async (_, text) => {
  for (const longWindow of [100, 20_000])
    expect(await search(text, longWindow)).toEqual(ids.slice(OTHERS, OTHERS + LIMIT));
});

it('finds nothing by a name that no row of the window has', async () => {
  expect(await search('absent', 20_000)).toEqual([]);
});
