import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { inList, inSelected, existsOrIn, selectIds, withoutIndex } from '../../db/dialect-sql.ts';
import { nameContains, textContains, selectIdsContaining } from '../../db/vulnerability-search.ts';
import type { Filter, ListContext } from '../lists/filters.ts';
import { accessibleOrganizations } from '../shared/visibility.ts';
import { foldForSearch, foldName } from '../../lib/fold-case.ts';

/** If other filters leave no more rows, each is tested, and what matches elsewhere is not selected. */
const MAX_TESTED_ROWS = 3_000;

/** Finds vulnerabilities by the rows of another table. */
interface IdSource {
  /** Selects the ids of matching vulnerabilities. */
  ids: RawBuilder<unknown>;
  /** Reads what the ids depend on first: PostgreSQL knows how many rows a tag has, but not a subquery. */
  loadIds?(): Promise<RawBuilder<unknown>>;
  /** Matches the current row, where an index can decide; otherwise the ids do. */
  exists?: RawBuilder<SqlBool>;
  /**
   * Matches the text of the current row.
   * @param rows how many rows are tested at most
   */
  matchesText?(rows: number): RawBuilder<SqlBool>;
}

/**
 * The condition that a vulnerability is among the ids of a source. Known ids are inlined, because an engine can only
 * guess how many a subquery returns. If a source has many ids, pages on SQLite test each row; PostgreSQL and counts
 * select the ids once.
 */
function idCondition(
  { db, plan }: ListContext,
  filter: string,
  { ids, exists, matchesText }: IdSource,
): Expression<SqlBool> {
  const id = sql.ref<number>('vulnerabilities.id');
  if (plan === undefined) return sql<SqlBool>`${id} in (${ids})`;
  const cachedIds = plan.ids.get(filter);
  if (cachedIds !== undefined) return inList(db, id, cachedIds);
  const { mostRows = Infinity } = plan;
  const rowTest = matchesText?.(mostRows) ?? exists;
  const testsRows = plan.mode === 'window' || mostRows <= MAX_TESTED_ROWS;
  if (testsRows && plan.mode !== 'count' && rowTest !== undefined) return rowTest;
  const isSelected = inSelected(db, withoutIndex(id), ids);
  return exists === undefined || plan.mode === 'count'
    ? isSelected
    : existsOrIn(db, { row: exists, all: isSelected });
}

/** PostgreSQL would hash all rows that a subquery selects, to test a few. */
const perRow = (db: ListContext['db']) => (db.engine === 'postgres' ? sql`offset 0` : sql``);

/**
 * A source by a table whose rows each belong to one vulnerability.
 * @param rowCondition the condition for the rows of one vulnerability
 */
function idsIn(
  db: ListContext['db'],
  table: 'vulnerability_taggings' | 'vulnerability_assets' | 'scanner_findings',
  condition: Expression<SqlBool>,
  rowCondition = condition,
): Required<Pick<IdSource, 'ids' | 'exists'>> {
  const links = sql.table(table);
  return {
    ids: sql`select link.vulnerability_id from ${links} as link where ${condition}`,
    exists: sql<SqlBool>`exists (select 1 from ${links} as link
      where link.vulnerability_id = vulnerabilities.id and ${rowCondition} ${perRow(db)})`,
  };
}

const LINK_COLUMNS = {
  vulnerability_taggings: 'link.tag_id',
  vulnerability_assets: 'link.asset_id',
} as const;

/** A source by links to the selected tags or assets. */
function linkedTo(
  { db }: ListContext,
  table: keyof typeof LINK_COLUMNS,
  selected: RawBuilder<unknown>,
): IdSource {
  const column = sql.ref<number>(LINK_COLUMNS[table]);
  return {
    ...idsIn(db, table, sql<SqlBool>`${column} in (${selected})`),
    loadIds: async () => idsIn(db, table, inList(db, column, await selectIds(db, selected))).ids,
  };
}

/** Other organizations' rows must not influence the plan: response times would reveal them. */
const isOfCaller = ({ db, caller }: ListContext, organization: Expression<number>) =>
  organizationCondition(db, organization, accessibleOrganizations(caller));

/** The value of each filter. */
interface RelatedFilterValues {
  tagId: readonly number[];
  tag: readonly string[];
  assetUid: readonly string[];
  gone: boolean;
  goneImportId: readonly number[];
  search: string;
}

type RelatedFilterInput = {
  readonly [Name in keyof RelatedFilterValues]?: RelatedFilterValues[Name] | undefined;
};

/** The filters by name. */
const ID_SOURCES: {
  readonly [Name in keyof RelatedFilterValues]: (
    listContext: ListContext,
    value: RelatedFilterValues[Name],
  ) => IdSource;
} = {
  tagId: (listContext, values) =>
    linkedTo(
      listContext,
      'vulnerability_taggings',
      sql`select vulnerability_tags.id from vulnerability_tags
        where ${inList(listContext.db, sql.ref<number>('vulnerability_tags.id'), values)}
          and ${isOfCaller(listContext, withoutIndex(sql.ref<number>('vulnerability_tags.organization_id')))}`,
    ),
  tag: (listContext, values) =>
    linkedTo(
      listContext,
      'vulnerability_taggings',
      // The index of names begins with the organization.
      sql`select vulnerability_tags.id from vulnerability_tags
        where ${inList(listContext.db, sql.ref<string>('vulnerability_tags.normalized_name'), values.map(foldName))}
          and ${isOfCaller(listContext, sql.ref<number>('vulnerability_tags.organization_id'))}`,
    ),
  assetUid: (listContext, values) =>
    linkedTo(
      listContext,
      'vulnerability_assets',
      sql`select assets.id from assets where ${inList(listContext.db, sql.ref<string>('assets.uid'), values)}
        and ${isOfCaller(listContext, withoutIndex(sql.ref<number>('assets.organization_id')))}`,
    ),
  gone: (listContext) =>
    idsIn(
      listContext.db,
      'scanner_findings',
      sql<SqlBool>`link.gone_import_id is not null and ${isOfCaller(listContext, sql.ref<number>('link.organization_id'))}`,
    ),
  goneImportId: (listContext, values) =>
    idsIn(
      listContext.db,
      'scanner_findings',
      // The index begins with the organization.
      sql<SqlBool>`${inList(listContext.db, sql.ref<number>('link.gone_import_id'), values)} and link.organization_id in (
        select imports.organization_id from imports where ${inList(listContext.db, sql.ref<number>('imports.id'), values)}
          and ${isOfCaller(listContext, sql.ref<number>('imports.organization_id'))})`,
    ),
  search: searchSource,
};

/** @param organizations `null` for all */
export const organizationCondition = (
  db: ListContext['db'],
  column: Expression<number>,
  organizations: readonly number[] | null,
) => (organizations === null ? sql<SqlBool>`1 = 1` : inList(db, column, organizations));

/** `17` or `#17`; with up to 15 digits, it is a safe integer. */
const NUMBER = /^\s*#?(\d{1,15})\s*$/;

/**
 * Searches title, description, CVE and CWE ids, tag names, the uid and the name of the assessment, names and locations of
 * assets, and finds the vulnerability of a number.
 */
function searchSource({ db, caller }: ListContext, text: string): IdSource {
  const key = foldForSearch(text);
  const number = Number(NUMBER.exec(text)?.[1] ?? 0);
  const organizations = accessibleOrganizations(caller);
  const isVisibleOrganization = (column: string) =>
    organizationCondition(db, sql.ref<number>(column), organizations);
  const contains = (column: string) => nameContains(db, column, key);
  /** On SQLite, the test of a row avoids the index: it would look up each of many matching names. */
  const linksTo = (
    table: 'vulnerability_taggings' | 'vulnerability_assets',
    column: 'link.tag_id' | 'link.asset_id',
    named: RawBuilder<unknown>,
  ) => {
    const id = sql.ref<number>(column);
    const { ids, exists } = idsIn(
      db,
      table,
      sql<SqlBool>`${id} in (${named})`,
      sql<SqlBool>`${db.engine === 'sqlite' ? withoutIndex(id) : id} in (${named})`,
    );
    // Usually no name matches. The database finds that out once, and looks up the links of no row.
    return { ids, exists, existsIfNamed: sql<SqlBool>`(exists (${named}) and ${exists})` };
  };
  const tagged = linksTo(
    'vulnerability_taggings',
    'link.tag_id',
    sql`select vulnerability_tags.id from vulnerability_tags
      where ${isVisibleOrganization('vulnerability_tags.organization_id')} and ${contains('vulnerability_tags.normalized_name')}`,
  );
  const onAssets = linksTo(
    'vulnerability_assets',
    'link.asset_id',
    sql`select assets.id from assets where ${isVisibleOrganization('assets.organization_id')}
      and (${contains('assets.search_location')} or ${contains('assets.search_name')})`,
  );
  const assessments = sql`select assessments.id from assessments where ${isVisibleOrganization('assessments.organization_id')}
    and (${contains('assessments.uid')} or ${contains('assessments.search_name')})`;
  return {
    ids: sql`${selectIdsContaining(db, key, organizations)}
      union all ${tagged.ids}
      union all ${onAssets.ids}
      union all select inside.id from vulnerabilities as inside
        where inside.id = ${number} and ${isVisibleOrganization('inside.organization_id')}
      union all select inside.id from vulnerabilities as inside where inside.assessment_id in (${assessments})`,
    matchesText(rows) {
      // Reading the names of assets takes longer than the links of a few rows, and so do all names of all organizations.
      const hasTag = organizations === null ? tagged.exists : tagged.existsIfNamed;
      const isOnAsset =
        organizations === null || rows <= MAX_TESTED_ROWS ? onAssets.exists : onAssets.existsIfNamed;
      return sql<SqlBool>`(${textContains(db, key)} or ${hasTag} or ${isOnAsset}
        or vulnerabilities.id = ${number} or vulnerabilities.assessment_id in (${assessments}))`;
    },
  };
}

const whereIds =
  <Name extends keyof RelatedFilterValues>(name: Name) =>
  (context: ListContext, value: RelatedFilterValues[Name]) =>
    idCondition(context, name, ID_SOURCES[name](context, value));

/** The filters that need other tables than `vulnerabilities`. */
export const RELATED_FILTERS = {
  tagId: { kind: 'integers', where: whereIds('tagId') } as Filter<'integers'>,
  tag: { kind: 'texts', where: whereIds('tag') } as Filter<'texts'>,
  assetUid: { kind: 'texts', pattern: '^[0-9a-f]{24}$', where: whereIds('assetUid') } as Filter<'texts'>,
  gone: {
    kind: 'flag',
    where: (listContext, value) =>
      value
        ? whereIds('gone')(listContext, true)
        : sql<SqlBool>`not exists (select 1 from scanner_findings as link
          where link.vulnerability_id = vulnerabilities.id and link.gone_import_id is not null
            ${listContext.window === undefined ? sql`` : perRow(listContext.db)})`,
  } as Filter<'flag'>,
  goneImportId: { kind: 'integers', where: whereIds('goneImportId') } as Filter<'integers'>,
  search: { kind: 'search', where: whereIds('search') } as Filter<'search'>,
};

/** @returns the statements that select the ids of each filter by another table that is set, by the filter's name */
export async function relatedIds(
  context: ListContext,
  input: RelatedFilterInput,
): Promise<(readonly [name: string, ids: RawBuilder<unknown>])[]> {
  const sources = (Object.keys(ID_SOURCES) as (keyof RelatedFilterValues)[]).flatMap((name) => {
    const source = sourceOf(context, name, input);
    return source === undefined ? [] : [[name, source] as const];
  });
  return Promise.all(
    sources.map(async ([name, { ids, loadIds }]) => [name, (await loadIds?.()) ?? ids] as const),
  );
}

/** @returns the source of a filter that is set */
function sourceOf<Name extends keyof RelatedFilterValues>(
  context: ListContext,
  name: Name,
  input: Pick<RelatedFilterInput, Name>,
): IdSource | undefined {
  const value = input[name];
  // `gone: false` selects nearly all rows and is tested on each row.
  return value === undefined || value === false ? undefined : ID_SOURCES[name](context, value);
}
