import type { ChangeContext } from '../../../auth/callers.ts';
import type { Transaction } from '../../../db/database.ts';
import { inList } from '../../../db/dialect-sql.ts';
import { type FieldError, invalidInput } from '../../shared/errors.ts';
import { validateName, validateNameLength } from '../../shared/names.ts';
import { tagsByIds } from '../vulnerability-tags.ts';
import { findOrCreateTags, unknownTagError } from '../resolve-tags.ts';
import { foldName } from '../../../lib/fold-case.ts';

/** `tagIds` and `tagNames` replace all tags; `addTags` and `removeTags` change some. */
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

/** @returns errors, with properties below `set` */
export function validateTagUpdate({ tagIds, tagNames, addTags, removeTags }: TagUpdate): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, names] of Object.entries({ tagNames, addTags, removeTags }))
    for (const [index, tagName] of (names ?? []).entries()) {
      const validate = name === 'removeTags' ? validateNameLength : validateName;
      const error = validate(`set.${name}.${index}`, tagName);
      if (error !== undefined) errors.push(error);
    }
  const replaces =
    tagIds === undefined ? (tagNames === undefined ? undefined : 'set.tagNames') : 'set.tagIds';
  if (replaces !== undefined)
    for (const [name, names] of Object.entries({ addTags, removeTags }))
      if (names !== undefined)
        errors.push({
          property: `set.${name}`,
          code: 'conflicts-with',
          params: { other: replaces },
        });
  const added = new Set((addTags ?? []).map(foldName));
  for (const [index, tagName] of (removeTags ?? []).entries())
    if (added.has(foldName(tagName)))
      errors.push({
        property: `set.removeTags.${index}`,
        code: 'also-in',
        params: { other: 'set.addTags' },
        value: tagName,
      });
  return errors;
}

/** Maps the tag ids of a vulnerability to its new ones. */
export type TagTransform = (tags: readonly number[]) => readonly number[];

/**
 * Builds a function for each organization that returns the new tags of a vulnerability.
 * @param organizations the organizations of all changed vulnerabilities
 * @param dryRun creates no tags; new names become negative ids
 * @returns the functions by organization
 * @throws DomainError `invalid` for the id of a tag that one of the organizations lacks
 */
export async function buildTagTransforms(
  tx: Transaction,
  by: ChangeContext,
  organizations: readonly number[],
  { tagIds, tagNames, addTags, removeTags }: TagUpdate,
  dryRun: boolean,
): Promise<ReadonlyMap<number, TagTransform>> {
  const tagRows = tagIds === undefined || tagIds.length === 0 ? [] : await tagsByIds(tx, { ids: tagIds });
  const errors = (tagIds ?? []).flatMap((id, index) =>
    organizations.every((owner) => tagRows.some((tag) => tag.id === id && tag.organization_id === owner))
      ? []
      : [unknownTagError(`set.tagIds.${index}`, id)],
  );
  if (errors.length > 0) throw invalidInput(errors);
  const replaces = tagIds !== undefined || tagNames !== undefined;
  const names = (replaces ? tagNames : addTags) ?? [];
  const rules = new Map<number, TagTransform>();
  for (const organization of organizations) {
    const removed = new Set(await tagIdsByName(tx, organization, removeTags ?? []));
    const namedIds = dryRun
      ? [...(await tagIdsByName(tx, organization, names))]
      : (
          await findOrCreateTags(tx, by, organization, {
            ids: [],
            tagRows: [],
            names: names.map((name) => name.trim()),
          })
        ).map(({ id }) => id);
    const missing = new Set(names.map(foldName)).size - namedIds.length;
    for (let id = -1; dryRun && id >= -missing; id -= 1) namedIds.push(id);
    const set = sortedUnique(replaces ? [...(tagIds ?? []), ...namedIds] : namedIds);
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
    .where(({ ref }) => inList(tx, ref('normalized_name'), [...new Set(names.map(foldName))]))
    .execute();
  return rows.map(({ id }) => id);
}

export async function tagNamesById(
  tx: Transaction,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, string>> {
  const unique = [...new Set(ids)];
  const rows = unique.length === 0 ? [] : await tagsByIds(tx, { ids: unique });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
