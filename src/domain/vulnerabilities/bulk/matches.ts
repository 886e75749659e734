import { sql } from 'kysely';
import type { ChangeContext, Caller } from '../../../auth/callers.ts';
import { inList } from '../../../db/dialect-sql.ts';
import type { Transaction } from '../../../db/database.ts';
import type { FilterInput, ListContext } from '../../lists/filters.ts';
import { DomainError, type FieldError, invalidInput } from '../../shared/errors.ts';
import { type LockedVulnerability, lockVulnerabilities } from '../lock-vulnerability.ts';
import { vulnerabilityList } from '../vulnerability-list.ts';

/** Vulnerabilities of one bulk update. */
export const MAX_BULK_UPDATE = 10_000;

export type VulnerabilityFilters = FilterInput<typeof vulnerabilityList.filters>;

/** A vulnerability that a filter selected, as it was then. */
export interface Match {
  id: number;
  version: number;
  updated_at: number;
}

/** The vulnerabilities of a bulk update: `ids`, or `matches` of `filter`. */
interface Selection {
  ids?: readonly number[] | undefined;
  filter?: VulnerabilityFilters | undefined;
  matches?: readonly Match[];
}

/** Filters whose result may change without a new version of the vulnerability. */
const FILTERS_BY_OTHER_ROWS = [
  'tagId',
  'tag',
  'assetUid',
  'assessmentGroupId',
  'gone',
  'goneImportId',
  'importId',
  'search',
] as const satisfies readonly (keyof VulnerabilityFilters)[];

/**
 * @returns all matches, locked, ordered by id
 * @throws DomainError `invalid` for ids that the caller cannot see
 */
export async function lockMatches(
  tx: Transaction,
  { actor, now }: ChangeContext<Caller>,
  { ids, filter, matches = [] }: Selection,
): Promise<LockedVulnerability[]> {
  const requested = ids ?? matches.map(({ id }) => id);
  const ascending = [...new Set(requested)].sort((one, other) => one - other);
  const locked = await lockVulnerabilities(tx, actor, ascending);
  const errors = (ids ?? []).flatMap((id, index): FieldError[] =>
    locked.has(id)
      ? []
      : [
          {
            property: `ids.${index}`,
            code: 'inaccessible-vulnerability',
            value: id,
          },
        ],
  );
  if (errors.length > 0) throw invalidInput(errors);
  const all = [...locked.values()];
  if (filter === undefined) return all;
  // Other transactions may have changed them, or rows that the filter uses, since they were read.
  const dependsOnOtherRows = FILTERS_BY_OTHER_ROWS.some((name) => filter[name] !== undefined);
  const matchesById = new Map(matches.map((match) => [match.id, match]));
  const changed = all.flatMap(({ id, version, updatedAt }) => {
    const match = matchesById.get(id);
    const isSame = match?.version === version && match.updated_at === updatedAt;
    return isSame && !dependsOnOtherRows ? [] : [id];
  });
  if (changed.length === 0) return all;
  const matching = await selectMatching(tx, { actor, now }, filter, changed);
  const lost = new Set(changed.filter((id) => !matching.has(id)));
  return all.filter(({ id }) => !lost.has(id));
}

/**
 * Filters locked vulnerabilities again.
 * @param ids the ids of locked vulnerabilities
 * @returns those that the filter selects now
 */
async function selectMatching(
  tx: Transaction,
  { actor, now }: ChangeContext<Caller>,
  filters: VulnerabilityFilters,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const query = await vulnerabilityList.query({ db: tx, caller: actor, now }, filters);
  const rows = await query
    .clearSelect()
    .select('vulnerabilities.id')
    .where(inList(tx, sql.ref<number>('vulnerabilities.id'), ids))
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** @throws DomainError `too-many` for more than `MAX_BULK_UPDATE` */
export async function findMatches(listContext: ListContext, filters: VulnerabilityFilters): Promise<Match[]> {
  const query = await vulnerabilityList.query(listContext, filters);
  const matches = await query
    .clearSelect()
    .select(['vulnerabilities.id', 'vulnerabilities.version', 'vulnerabilities.updated_at'])
    .limit(MAX_BULK_UPDATE + 1)
    .execute();
  if (matches.length <= MAX_BULK_UPDATE) return matches;
  const size = await vulnerabilityList.count(listContext, filters);
  throw new DomainError('too-many-vulnerabilities', { count: size, max: MAX_BULK_UPDATE }, [], {
    max: MAX_BULK_UPDATE,
    size,
  });
}
