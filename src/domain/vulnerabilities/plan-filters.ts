import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { inList, selectIds, withoutIndex } from '../../db/dialect-sql.ts';
import type { Filter, FilterInput, ListContext, ListPlan } from '../lists/filters.ts';
import { accessibleOrganizations } from '../shared/visibility.ts';
import { selectIdsContaining, selectQueuedIds } from '../../db/vulnerability-search.ts';
import { foldForSearch } from '../../lib/fold-case.ts';
import { organizationCondition, relatedIds } from './related-filters.ts';
import { reportedBetween, VULNERABILITY_FILTERS } from './vulnerability-filters.ts';

/** The maximum number of ids that are read before rows are counted. */
const MAX_COUNTED_IDS = 3_000;

type Filters = typeof VULNERABILITY_FILTERS;
type Name = keyof Filters;

/** Filters by columns whose indexes have the organization. */
const BY_COLUMN: readonly Name[] = [
  'statusId',
  'phase',
  'severity',
  'createdBy',
  'assigneeId',
  'dueUntil',
  'retest',
  'updatedSince',
  'updatedWithin',
  'source',
];

/**
 * Reads the ids that each filter selects.
 * @param maxIds how many ids of a filter are read at most to find rows; absent if rows are only counted, for which filters
 *   by columns of the row need no plan
 * @returns `undefined` if no filter has an index
 */
export async function planFilters(
  context: ListContext,
  input: FilterInput<Filters>,
  maxIds?: number,
): Promise<ListPlan | undefined> {
  const related = await relatedIds(context, input);
  const own = maxIds === undefined ? [] : await ownIds(context, input);
  const most = maxIds ?? MAX_COUNTED_IDS;
  if (related.length + own.length === 0) return undefined;
  const select = async ([name, ids]: readonly [name: string, ids: RawBuilder<unknown>]) => {
    const selected = await selectIds(
      context.db,
      sql`select * from (${ids}) as found_ids limit ${sql.lit(most + 1)}`,
    );
    return selected.length <= most ? [[name, selected] as const] : [];
  };
  const [byRelated, byOwn] = await Promise.all(
    [related, own].map(async (sources) => (await Promise.all(sources.map(select))).flat()),
  );
  const ids = new Map(byRelated);
  const candidates = (byOwn ?? []).map(([, list]) => list).sort((one, other) => one.length - other.length)[0];
  const sizes = [...ids.values(), ...(candidates === undefined ? [] : [candidates])].map(
    (list) => list.length,
  );
  if (sizes.length === 0) return { strategy: 'scan', ids, mode: 'page' };
  const mostRows = Math.min(...sizes);
  const isSmallest = candidates?.length === mostRows;
  return { strategy: 'ids', ids, mode: 'page', mostRows, ...(isSmallest ? { candidates } : {}) };
}

/** @returns statements that select the ids of filters by columns of `vulnerabilities` */
async function ownIds(context: ListContext, input: FilterInput<Filters>) {
  const { db, caller } = context;
  const organization = sql.ref<number>('vulnerabilities.organization_id');
  const organizations = accessibleOrganizations(caller);
  const select: Select = (condition, isByIds = false) => {
    // SQLite would prefer an index of the organization to a list of ids; PostgreSQL needs its statistics.
    const column = isByIds && db.engine === 'sqlite' ? withoutIndex(organization) : organization;
    return sql`select vulnerabilities.id from vulnerabilities
      where ${organizationCondition(db, column, organizations)} and ${condition}`;
  };
  const byColumn = BY_COLUMN.flatMap((name) => {
    const value = input[name];
    // `FilterInput` pairs each filter with a value of its kind.
    const condition =
      value === undefined
        ? undefined
        : (VULNERABILITY_FILTERS[name] as Filter).where?.(context, value as never);
    return condition === undefined ? [] : [[name, select(condition)] as const];
  });
  const { conditions: reported } = reportedBetween(context, input);
  return [
    ...byColumn,
    ...(reported.length === 0
      ? []
      : [['reported', select(sql<SqlBool>`${sql.join(reported, sql` and `)}`)] as const]),
    ...(input.id === undefined
      ? []
      : [['id', select(inList(db, sql.ref<number>('vulnerabilities.id'), input.id), true)] as const]),
    ...idsByCve(context, input, select),
    ...(await idsByOwner(context, input, select)),
  ];
}

/** @param isByIds whether the condition selects by ids, of organizations of the caller if they exist */
type Select = (condition: Expression<SqlBool>, isByIds?: boolean) => RawBuilder<unknown>;

/**
 * Selects the vulnerabilities of assessments and imports. These are read first: PostgreSQL knows how many rows each of
 * them has, and rows of others are not read, as response times would reveal them.
 */
async function idsByOwner(context: ListContext, input: FilterInput<Filters>, select: Select) {
  const { db, caller } = context;
  const organizations = accessibleOrganizations(caller);
  const { assessmentId: uids, assessmentGroupId: groups, importId: imports } = input;
  const owners = [
    ['assessments', 'uid', uids],
    ['assessments', 'group_id', groups],
    ['imports', 'id', imports],
  ] as const;
  const selected = owners.map(async ([table, column, values]) => {
    if (values === undefined) return [];
    const ids = await selectIds(
      db,
      sql`select owner.id from ${sql.table(table)} as owner
        where ${inList<string | number>(db, sql.ref<string | number>(`owner.${column}`), values)}
          and ${organizationCondition(db, sql.ref<number>('owner.organization_id'), organizations)}`,
    );
    const reference = table === 'imports' ? 'vulnerabilities.import_id' : 'vulnerabilities.assessment_id';
    return [[`${table} by ${column}`, select(inList(db, sql.ref<number>(reference), ids), true)] as const];
  });
  return (await Promise.all(selected)).flat();
}

/** SQLite combines up to 500 queries in a statement. */
const MAX_LOOKED_UP_CVES = 100;

/** CVE ids are in the search index, except of what is not indexed yet. */
function idsByCve(context: ListContext, { cve: values }: FilterInput<Filters>, select: Select) {
  if (values === undefined || values.length > MAX_LOOKED_UP_CVES) return [];
  const { db, caller } = context;
  const id = sql.ref<number>('vulnerabilities.id');
  const hasCve = VULNERABILITY_FILTERS.cve.where?.(context, values) ?? sql<SqlBool>`1 = 0`;
  const organizations = accessibleOrganizations(caller);
  const indexed = values.map((cve) =>
    select(
      sql<SqlBool>`${id} in (${selectIdsContaining(db, foldForSearch(cve), organizations)}) and ${hasCve}`,
      true,
    ),
  );
  const queued = selectQueuedIds(db, organizations, hasCve);
  return [['cve', sql`${sql.join([...indexed, queued], sql` union `)}`] as const];
}
