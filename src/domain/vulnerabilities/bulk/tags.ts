import type { Attribution } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/engine.ts';
import { inList, normalizeName } from '../../../db/dialect-sql.ts';
import { type FieldError, invalidInput } from '../../shared/errors.ts';
import { validateName } from '../../shared/names.ts';
import { tagsByIds } from '../vulnerability-tags.ts';
import { findOrCreateTags, unknownTagError } from '../resolve-tags.ts';

/** What becomes of the tags of many: they are replaced by the union of the first two, or some are added and removed. */
export interface TagUpdate {
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
export function validateTagUpdate({ tagIds, tagNames, addTags, removeTags }: TagUpdate): FieldError[] {
  const faults: FieldError[] = [];
  for (const [name, names] of Object.entries({ tagNames, addTags, removeTags }))
    for (const [index, one] of (names ?? []).entries())
      faults.push(...((validateName(`set.${name}.${index}`, one) ?? []) as FieldError[]));
  const replaces =
    tagIds === undefined ? (tagNames === undefined ? undefined : 'set.tagNames') : 'set.tagIds';
  if (replaces !== undefined)
    for (const [name, names] of Object.entries({ addTags, removeTags }))
      if (names !== undefined)
        faults.push({
          property: `set.${name}`,
          code: 'conflicts-with',
          params: { other: replaces },
        });
  const added = new Set((addTags ?? []).map(normalizeName));
  for (const [index, one] of (removeTags ?? []).entries())
    if (added.has(normalizeName(one)))
      faults.push({
        property: `set.removeTags.${index}`,
        code: 'also-in',
        params: { other: 'set.addTags' },
        value: one,
      });
  return faults;
}

/** What becomes of the tags of a vulnerability of one organization. */
export type TagTransform = (tags: readonly number[]) => readonly number[];

/** A tag that a dry run does not create. */
const NOT_CREATED = -1;

/**
 * @param organizations of all vulnerabilities that are changed
 * @param dryRun nothing is created; names that are new then stand for tags that no vulnerability has
 * @returns by organization, what becomes of tags
 * @throws Failure `invalid` for the id of a tag that is not of each of these organizations
 */
export async function buildTagTransforms(
  tx: Transaction,
  act: Attribution,
  organizations: readonly number[],
  { tagIds, tagNames, addTags, removeTags }: TagUpdate,
  dryRun: boolean,
): Promise<ReadonlyMap<number, TagTransform>> {
  const found = tagIds === undefined || tagIds.length === 0 ? [] : await tagsByIds(tx, { ids: tagIds });
  const faults = (tagIds ?? []).flatMap((id, index) =>
    organizations.every((one) => found.some((tag) => tag.id === id && tag.organization_id === one))
      ? []
      : [unknownTagError(`set.tagIds.${index}`, id)],
  );
  if (faults.length > 0) throw invalidInput(faults);
  const replaces = tagIds !== undefined || tagNames !== undefined;
  const wanted = (replaces ? tagNames : addTags) ?? [];
  const rules = new Map<number, TagTransform>();
  for (const organization of organizations) {
    const removed = new Set(await tagIdsByName(tx, organization, removeTags ?? []));
    const named = dryRun
      ? [...(await tagIdsByName(tx, organization, wanted))]
      : (
          await findOrCreateTags(tx, act, organization, {
            ids: [],
            found: [],
            names: wanted.map((name) => name.trim()),
          })
        ).map(({ id }) => id);
    if (dryRun && named.length < new Set(wanted.map(normalizeName)).size) named.push(NOT_CREATED);
    const set = sortedUnique(replaces ? [...(tagIds ?? []), ...named] : named);
    rules.set(organization, (tags) =>
      replaces ? set : sortedUnique([...tags.filter((tag) => !removed.has(tag)), ...set]),
    );
  }
  return rules;
}

function sortedUnique(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((one, other) => one - other);
}

async function tagIdsByName(
  tx: Transaction,
  organization: number,
  names: readonly string[],
): Promise<number[]> {
  if (names.length === 0) return [];
  const rows = await tx
    .selectFrom('vulnerability_tags')
    .select('id')
    .where('organization_id', '=', organization)
    .where(({ ref }) => inList(tx, ref('normalized_name'), [...new Set(names.map(normalizeName))]))
    .execute();
  return rows.map(({ id }) => id);
}

/** @returns the names of tags by id */
export async function tagNamesById(
  tx: Transaction,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, string>> {
  const unique = [...new Set(ids)];
  const rows = unique.length === 0 ? [] : await tagsByIds(tx, { ids: unique });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
