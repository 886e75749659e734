import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import { containsText, isOneOf, listOf, nameKey, tried, unindexed } from '../../db/dialect-sql.ts';
import { holdsPart, selectHolding } from '../../db/vulnerability-search.ts';
import { type Filter, type Reading, searchKey } from '../lists/filters.ts';

/** Vulnerabilities that a filter finds are gathered and sorted when they are at most as many; else the order is walked. */
const MANY = 3_000;

/** The organizations that a caller may see anything of; `null` for all. */
function organizationsOf({ staff, assigned, organizationId }: Caller): readonly number[] | null {
  if (staff) return assigned;
  return organizationId === null ? [] : [organizationId];
}

/** What finds vulnerabilities by the rows of another table. */
interface Finder {
  /** The ids that it finds. */
  ids: RawBuilder<unknown>;
  /** Whether it finds a vulnerability that is at hand, where an index tells that; else by the ids. */
  has?: RawBuilder<SqlBool>;
  /** The same where the texts of a vulnerability tell it, of a few of them alone. */
  reads?: RawBuilder<SqlBool>;
}

/**
 * A condition by the ids that something finds: they find the rows, or, where they are many, each row is tried. Where they
 * are known already, they stand there themselves, as an engine can only guess how many a select has.
 */
function amongIds(
  { broad, counting = false, trying = false, db, found }: Reading,
  filter: string,
  { ids, has, reads = has }: Finder,
): Expression<SqlBool> {
  const id = sql.ref<number>('vulnerabilities.id');
  const known = found?.get(filter);
  if (known !== undefined) return isOneOf(db, id, known);
  if (broad?.has(filter) !== true) return sql<SqlBool>`${id} in (${ids})`;
  if (trying && reads !== undefined) return reads;
  const isOne = sql<SqlBool>`${unindexed(id)} in (${ids})`;
  return has === undefined || counting ? isOne : tried(db, { row: has, all: isOne });
}

/** By the rows of a table, of which each is of one vulnerability. */
function heldBy(
  table: 'vulnerability_taggings' | 'vulnerability_assets' | 'scanner_findings',
  condition: Expression<SqlBool>,
): Required<Pick<Finder, 'ids' | 'has'>> {
  const held = sql.table(table);
  return {
    ids: sql`select held.vulnerability_id from ${held} as held where ${condition}`,
    has: sql<SqlBool>`exists (select 1 from ${held} as held
      where held.vulnerability_id = vulnerabilities.id and ${condition})`,
  };
}

/** By name of a filter, what it finds by. */
const FINDERS = {
  tagId: ({ db }: Reading, values: readonly number[]) =>
    heldBy('vulnerability_taggings', isOneOf(db, sql.ref<number>('held.tag_id'), values)),
  tag: ({ db }: Reading, values: readonly string[]) =>
    heldBy(
      'vulnerability_taggings',
      sql<SqlBool>`held.tag_id in (select vulnerability_tags.id from vulnerability_tags
        where ${isOneOf(db, sql.ref<string>('vulnerability_tags.name_key'), values.map(nameKey))})`,
    ),
  assetUid: ({ db }: Reading, values: readonly string[]) =>
    heldBy(
      'vulnerability_assets',
      sql<SqlBool>`held.asset_id in (select assets.id from assets where ${isOneOf(db, sql.ref<string>('assets.uid'), values)})`,
    ),
  gone: ({ db, caller }: Reading) =>
    heldBy(
      'scanner_findings',
      sql<SqlBool>`held.gone_import_id is not null and ${ofThese(db, 'held.organization_id', organizationsOf(caller))}`,
    ),
  goneImportId: ({ db, caller }: Reading, values: readonly number[]) =>
    heldBy(
      'scanner_findings',
      // The index begins with the organization.
      sql<SqlBool>`${isOneOf(db, sql.ref<number>('held.gone_import_id'), values)} and held.organization_id in (
        select imports.organization_id from imports where ${isOneOf(db, sql.ref<number>('imports.id'), values)}
          and ${ofThese(db, 'imports.organization_id', organizationsOf(caller))})`,
    ),
  search: selectFound,
};

/** The condition that a column has one of these organizations; `null` for all. */
const ofThese = (db: Reading['db'], column: string, organizations: readonly number[] | null) =>
  organizations === null ? sql<SqlBool>`1 = 1` : isOneOf(db, sql.ref<number>(column), organizations);

/** What is searched beside title and description: the names of tags, and the uid and the name of the assessment. */
function selectFound({ db, caller }: Reading, text: string): Finder {
  const key = searchKey(text);
  const organizations = organizationsOf(caller);
  const whose = (column: string) => ofThese(db, column, organizations);
  const holds = (column: string) => containsText(sql.ref<string>(column), key);
  const tagged = heldBy(
    'vulnerability_taggings',
    sql<SqlBool>`held.tag_id in (select vulnerability_tags.id from vulnerability_tags
      where ${whose('vulnerability_tags.organization_id')} and ${holds('vulnerability_tags.name_key')})`,
  );
  const assessments = sql`select assessments.id from assessments where ${whose('assessments.organization_id')}
    and (${holds('assessments.uid')} or ${holds('assessments.name_key')})`;
  return {
    ids: sql`${selectHolding(db, key, organizations)}
      union all ${tagged.ids}
      union all select inside.id from vulnerabilities as inside where inside.assessment_id in (${assessments})`,
    reads: sql<SqlBool>`(${holdsPart(key)} or ${tagged.has} or vulnerabilities.assessment_id in (${assessments}))`,
  };
}

/** The filters by what is no column of a vulnerability. */
export const FOUND = {
  tagId: {
    kind: 'integers',
    where: (reading, values) => amongIds(reading, 'tagId', FINDERS.tagId(reading, values)),
  } as Filter<'integers'>,
  tag: {
    kind: 'texts',
    where: (reading, values) => amongIds(reading, 'tag', FINDERS.tag(reading, values)),
  } as Filter<'texts'>,
  assetUid: {
    kind: 'texts',
    pattern: '^[0-9a-f]{24}$',
    where: (reading, values) => amongIds(reading, 'assetUid', FINDERS.assetUid(reading, values)),
  } as Filter<'texts'>,
  gone: {
    kind: 'flag',
    where: (reading, value) =>
      value
        ? amongIds(reading, 'gone', FINDERS.gone(reading))
        : sql<SqlBool>`not exists (select 1 from scanner_findings as held
          where held.vulnerability_id = vulnerabilities.id and held.gone_import_id is not null)`,
  } as Filter<'flag'>,
  goneImportId: {
    kind: 'integers',
    where: (reading, values) => amongIds(reading, 'goneImportId', FINDERS.goneImportId(reading, values)),
  } as Filter<'integers'>,
  search: {
    kind: 'search',
    where: (reading, value) => amongIds(reading, 'search', FINDERS.search(reading, value)),
  } as Filter<'search'>,
};

/** What is chosen of these filters, by their names. */
type ChosenFinders = { readonly [Name in keyof typeof FINDERS]?: unknown };

/** Tells which of these filters let many through, and what the others find: `judge` of a list. */
export async function judgeFinders(
  reading: Reading,
  chosen: ChosenFinders,
): Promise<Pick<Reading, 'broad' | 'found' | 'narrow'>> {
  const names = (Object.keys(FINDERS) as (keyof typeof FINDERS)[]).filter(
    // What is not gone is all but a few, and nothing finds it.
    (name) => chosen[name] !== undefined && chosen[name] !== false,
  );
  const broad = new Set<string>();
  const found = new Map<string, readonly number[]>();
  await Promise.all(
    names.map(async (name) => {
      // Which value goes with which filter is what `Chosen` says.
      const { ids } = FINDERS[name](reading, chosen[name] as never);
      const few = await listOf(
        reading.db,
        sql`select * from (${ids}) as found_ids limit ${sql.lit(MANY + 1)}`,
      );
      if (few.length > MANY) broad.add(name);
      else found.set(name, few);
    }),
  );
  return { broad, found, narrow: found.size > 0 };
}
