import type { Act } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import { isOneOf, nameKey } from '../../../db/dialect-sql.ts';
import { type Fault, invalid } from '../../shared/errors.ts';
import { nameFault } from '../../shared/names.ts';
import { tagsByIds } from '../vulnerability-tags.ts';
import { findOrCreateTags, unknownTag } from '../resolve-tags.ts';

/** What becomes of the tags of many: they are replaced by the union of the first two, or some are added and removed. */
export interface TagChange {
  /** Ids. */
  tagIds?: readonly number[] | undefined;
  /** Names; unknown ones are created. */
  tagNames?: readonly string[] | undefined;
  /** Names; unknown ones are created. */
  addTags?: readonly string[] | undefined;
  /** Names; unknown ones are ignored. */
  removeTags?: readonly string[] | undefined;
}

/** @returns what is wrong with the form of a change of tags, within `set` */
export function tagChangeFaults({ tagIds, tagNames, addTags, removeTags }: TagChange): Fault[] {
  const faults: Fault[] = [];
  for (const [name, names] of Object.entries({ tagNames, addTags, removeTags }))
    for (const [index, one] of (names ?? []).entries())
      faults.push(...((nameFault(`set.${name}.${index}`, one) ?? []) as Fault[]));
  const replaces =
    tagIds === undefined ? (tagNames === undefined ? undefined : 'set.tagNames') : 'set.tagIds';
  if (replaces !== undefined)
    for (const [name, names] of Object.entries({ addTags, removeTags }))
      if (names !== undefined)
        faults.push({
          property: `set.${name}`,
          message: `must not be there with ${replaces}`,
          other: replaces,
        });
  const added = new Set((addTags ?? []).map(nameKey));
  for (const [index, one] of (removeTags ?? []).entries())
    if (added.has(nameKey(one)))
      faults.push({
        property: `set.removeTags.${index}`,
        message: 'must not be in set.addTags as well',
        other: 'set.addTags',
        value: one,
      });
  return faults;
}

/** What becomes of the tags of a vulnerability of one organization. */
export type TagRule = (tags: readonly number[]) => readonly number[];

/** A tag that a dry run does not create. */
const UNMADE = -1;

/**
 * @param organizations of all vulnerabilities that are changed
 * @param dryRun nothing is created; names that are new then stand for tags that no vulnerability has
 * @returns by organization, what becomes of tags
 * @throws Failure `invalid` for the id of a tag that is not of each of these organizations
 */
export async function findTagRules(
  tx: Transaction,
  act: Act,
  organizations: readonly number[],
  { tagIds, tagNames, addTags, removeTags }: TagChange,
  dryRun: boolean,
): Promise<ReadonlyMap<number, TagRule>> {
  const found = tagIds === undefined || tagIds.length === 0 ? [] : await tagsByIds(tx, { ids: tagIds });
  const faults = (tagIds ?? []).flatMap((id, index) =>
    organizations.every((one) => found.some((tag) => tag.id === id && tag.organization_id === one))
      ? []
      : [unknownTag(`set.tagIds.${index}`, id)],
  );
  if (faults.length > 0) throw invalid(faults);
  const replaces = tagIds !== undefined || tagNames !== undefined;
  const wanted = (replaces ? tagNames : addTags) ?? [];
  const rules = new Map<number, TagRule>();
  for (const organization of organizations) {
    const removed = new Set(await idsOfNames(tx, organization, removeTags ?? []));
    const named = dryRun
      ? [...(await idsOfNames(tx, organization, wanted))]
      : (
          await findOrCreateTags(tx, act, organization, {
            ids: [],
            found: [],
            names: wanted.map((name) => name.trim()),
          })
        ).map(({ id }) => id);
    if (dryRun && named.length < new Set(wanted.map(nameKey)).size) named.push(UNMADE);
    const set = sorted(replaces ? [...(tagIds ?? []), ...named] : named);
    rules.set(organization, (tags) =>
      replaces ? set : sorted([...tags.filter((tag) => !removed.has(tag)), ...set]),
    );
  }
  return rules;
}

function sorted(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((one, other) => one - other);
}

async function idsOfNames(
  tx: Transaction,
  organization: number,
  names: readonly string[],
): Promise<number[]> {
  if (names.length === 0) return [];
  const rows = await tx
    .selectFrom('vulnerability_tags')
    .select('id')
    .where('organization_id', '=', organization)
    .where(({ ref }) => isOneOf(tx, ref('name_key'), [...new Set(names.map(nameKey))]))
    .execute();
  return rows.map(({ id }) => id);
}

/** @returns the names of tags by id */
export async function namesOfTags(
  tx: Transaction,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, string>> {
  const unique = [...new Set(ids)];
  const rows = unique.length === 0 ? [] : await tagsByIds(tx, { ids: unique });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
