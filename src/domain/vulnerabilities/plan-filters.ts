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

/** Filters with an index of their own column, and those whose index begins with the organization. */
const BY_OWN_INDEX: readonly Name[] = ['id', 'importId', 'createdBy', 'assigneeId'];
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
 * @param isPage whether rows are read; for a number of rows, only filters by other tables are planned
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
  const fewest = (byOwn ?? []).map(([, list]) => list).sort((one, other) => one.length - other.length)[0];
  const isSmallest = fewest !== undefined && [...ids.values()].every((list) => list.length > fewest.length);
  return {
    strategy: ids.size > 0 || fewest !== undefined ? 'ids' : 'scan',
    ids,
    mode: 'page',
    ...(isSmallest ? { candidates: fewest } : {}),
  };
}

/** SQLite would prefer an index of the organization; PostgreSQL needs its statistics. */
const byOwnIndex = ({ db }: ListContext, organization: Expression<number>) =>
  db.engine === 'sqlite' ? withoutIndex(organization) : organization;

/** @returns statements that select the ids of filters by columns of `vulnerabilities` */
async function ownIds(context: ListContext, input: FilterInput<Filters>) {
  const organization = sql.ref<number>('vulnerabilities.organization_id');
  const organizations = accessibleOrganizations(context.caller);
  const select: Select = (column, condition) =>
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
    ...idsBy(BY_OWN_INDEX, byOwnIndex(context, organization)),
    ...idsBy(BY_ORGANIZATION_INDEX, organization),
    ...(await idsByAssessment(context, input, select)),
    ...idsByCve(context, input, select),
    ...(reported.length === 0
      ? []
      : [['reported', select(organization, sql<SqlBool>`${sql.join(reported, sql` and `)}`)] as const]),
  ];
}

type Select = (organization: Expression<number>, condition: Expression<SqlBool>) => RawBuilder<unknown>;

/** The assessments are read first: PostgreSQL knows how many rows each of them has. */
async function idsByAssessment(context: ListContext, input: FilterInput<Filters>, select: Select) {
  const { db } = context;
  const { assessmentId: uids, assessmentGroupId: groups } = input;
  if (uids === undefined && groups === undefined) return [];
  const isSelected = [
    ...(uids === undefined ? [] : [inList(db, sql.ref<string>('assessments.uid'), uids)]),
    ...(groups === undefined ? [] : [inList(db, sql.ref<number>('assessments.group_id'), groups)]),
  ];
  const assessments = await selectIds(
    db,
    sql`select assessments.id from assessments where ${sql.join(isSelected, sql` and `)}`,
  );
  const organization = byOwnIndex(context, sql.ref<number>('vulnerabilities.organization_id'));
  const isIn = inList(db, sql.ref<number>('vulnerabilities.assessment_id'), assessments);
  return [['assessments', select(organization, isIn)] as const];
}

/** CVE ids are in the search index, except of what is not indexed yet. */
function idsByCve(context: ListContext, { cve: values }: FilterInput<Filters>, select: Select) {
  if (values === undefined) return [];
  const { db, caller } = context;
  const id = sql.ref<number>('vulnerabilities.id');
  const hasCve = VULNERABILITY_FILTERS.cve.where?.(context, values);
  const isIndexed = values.map(
    (cve) =>
      sql<SqlBool>`${id} in (${selectIdsContaining(db, foldForSearch(cve), accessibleOrganizations(caller))})`,
  );
  const isQueued = sql<SqlBool>`${id} in (${selectQueuedIds(db, accessibleOrganizations(caller))})`;
  const organization = byOwnIndex(context, sql.ref<number>('vulnerabilities.organization_id'));
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
