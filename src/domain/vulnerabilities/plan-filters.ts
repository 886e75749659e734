import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { selectIds, withoutIndex } from '../../db/dialect-sql.ts';
import type { Filter, FilterInput, ListContext, ListPlan } from '../lists/filters.ts';
import { accessibleOrganizations } from '../shared/visibility.ts';
import { selectIdsContaining, selectQueuedIds } from '../../db/vulnerability-search.ts';
import { foldForSearch } from '../../lib/fold-case.ts';
import { organizationCondition, relatedIds } from './related-filters.ts';
import { reportedBetween, VULNERABILITY_FILTERS } from './vulnerability-filters.ts';

/** The maximum number of ids that are read first and sorted. For more, the index of the sort is read. */
const MAX_MATERIALIZED_IDS = 3_000;

type Filters = typeof VULNERABILITY_FILTERS;
type Name = keyof Filters;

/** Filters with an index of their own column, and those whose index begins with the organization. */
const BY_OWN_INDEX: readonly Name[] = [
  'id',
  'importId',
  'createdBy',
  'assigneeId',
  'assessmentId',
  'assessmentGroupId',
];
const BY_ORGANIZATION_INDEX: readonly Name[] = [
  'statusId',
  'phase',
  'severity',
  'dueUntil',
  'retest',
  'updatedSince',
  'updatedWithin',
  'source',
];

/**
 * Reads the ids that each filter selects, up to `MAX_MATERIALIZED_IDS` of them.
 * @returns `undefined` if no filter has an index
 */
export async function planFilters(
  context: ListContext,
  input: FilterInput<Filters>,
): Promise<ListPlan | undefined> {
  const related = relatedIds(context, input);
  const own = context.isCounting === true ? [] : ownIds(context, input);
  if (related.length + own.length === 0) return undefined;
  const select = async ([name, ids]: readonly [name: string, ids: RawBuilder<unknown>]) => {
    const selected = await selectIds(
      context.db,
      sql`select * from (${ids}) as found_ids limit ${sql.lit(MAX_MATERIALIZED_IDS + 1)}`,
    );
    return selected.length <= MAX_MATERIALIZED_IDS ? [[name, selected] as const] : [];
  };
  const [byRelated, byOwn] = await Promise.all(
    [related, own].map(async (sources) => (await Promise.all(sources.map(select))).flat()),
  );
  const ids = new Map(byRelated);
  const fewest = (byOwn ?? []).map(([, list]) => list).sort((one, other) => one.length - other.length)[0];
  const isSmallest = fewest !== undefined && [...ids.values()].every((list) => list.length > fewest.length);
  return {
    strategy: ids.size > 0 || fewest !== undefined ? 'ids' : 'scan',
    ids,
    mode: 'page',
    ...(isSmallest ? { candidates: fewest } : {}),
  };
}

/** @returns statements that select the ids of filters by columns of `vulnerabilities` */
function ownIds(context: ListContext, input: FilterInput<Filters>) {
  const organization = sql.ref<number>('vulnerabilities.organization_id');
  const organizations = accessibleOrganizations(context.caller);
  const select = (column: Expression<number>, condition: Expression<SqlBool>) =>
    sql`select vulnerabilities.id from vulnerabilities
      where ${organizationCondition(context.db, column, organizations)} and ${condition}`;
  const idsBy = (names: readonly Name[], column: Expression<number>) =>
    names.flatMap((name) => {
      const value = input[name];
      // `FilterInput` pairs each filter with a value of its kind.
      const condition =
        value === undefined
          ? undefined
          : (VULNERABILITY_FILTERS[name] as Filter).where?.(context, value as never);
      return condition === undefined ? [] : [[name, select(column, condition)] as const];
    });
  const { conditions: reported } = reportedBetween(context, input);
  return [
    ...idsBy(BY_OWN_INDEX, withoutIndex(organization)),
    ...idsBy(BY_ORGANIZATION_INDEX, organization),
    ...idsByCve(context, input, select),
    ...(reported.length === 0
      ? []
      : [['reported', select(organization, sql<SqlBool>`${sql.join(reported, sql` and `)}`)] as const]),
  ];
}

/** CVE ids are in the search index, except of what is not indexed yet. */
function idsByCve(
  context: ListContext,
  { cve: values }: FilterInput<Filters>,
  select: (column: Expression<number>, condition: Expression<SqlBool>) => RawBuilder<unknown>,
) {
  if (values === undefined) return [];
  const { db, caller } = context;
  const id = sql.ref<number>('vulnerabilities.id');
  const hasCve = VULNERABILITY_FILTERS.cve.where?.(context, values);
  const isIndexed = values.map(
    (cve) =>
      sql<SqlBool>`${id} in (${selectIdsContaining(db, foldForSearch(cve), accessibleOrganizations(caller))})`,
  );
  const isQueued = sql<SqlBool>`${id} in (${selectQueuedIds(db, accessibleOrganizations(caller))})`;
  const organization = withoutIndex(sql.ref<number>('vulnerabilities.organization_id'));
  return [
    [
      'cve',
      sql`${sql.join(
        [...isIndexed, isQueued].map((condition) =>
          select(organization, sql<SqlBool>`${condition} and ${hasCve}`),
        ),
        sql` union `,
      )}`,
    ] as const,
  ];
}
