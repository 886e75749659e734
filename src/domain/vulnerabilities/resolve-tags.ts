import type { ChangeContext } from '../../auth/callers.ts';
import type { Transaction } from '../../db/database.ts';
import { recordEvent } from '../audit/record-event.ts';
import { type FieldError, invalidInput } from '../shared/errors.ts';
import { validateName, validateNameLength } from '../shared/names.ts';
import { TAG_COLUMNS, tagsByIds, tagsByKeys, type VulnerabilityTagRow } from './vulnerability-tags.ts';
import { foldName } from '../../lib/fold-case.ts';

/** Tags by id, by name, or both. */
export interface TagInput {
  /** Ids. */
  tagIds?: readonly number[] | undefined;
  /** Names; unknown ones are created. */
  tagNames?: readonly string[] | undefined;
}

/** @throws DomainError `invalid` for a bad name and for an id that no tag of the organization has */
export async function resolveTags(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number,
  { tagIds: ids = [], tagNames = [] }: TagInput,
): Promise<VulnerabilityTagRow[]> {
  const errors = tagNames.flatMap((name, index) => validateNameLength(`tagNames.${index}`, name) ?? []);
  if (errors.length > 0) throw invalidInput(errors);
  if (ids.length === 0 && tagNames.length === 0) return [];
  const tagRows = ids.length === 0 ? [] : await tagsByIds(tx, { ids });
  return findOrCreateTags(tx, by, organizationId, {
    ids,
    tagRows,
    names: tagNames.map((name) => name.trim()),
  });
}

/**
 * Finds tags by id and by name, and creates those whose name is new.
 * @param input `tagRows`: the rows of `tagsByIds` for `ids`; `names`: trimmed, of a valid length
 * @returns each tag once, ordered by id
 * @throws DomainError `invalid` for an id that no tag of the organization has, as `tagIds.0` and so on, and for a bad
 *   name of a new tag, as `tagNames.0`
 */
export async function findOrCreateTags(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number,
  {
    ids,
    tagRows,
    names,
  }: { ids: readonly number[]; tagRows: readonly VulnerabilityTagRow[]; names: readonly string[] },
): Promise<VulnerabilityTagRow[]> {
  const tags = new Map<number, VulnerabilityTagRow>();
  for (const tag of tagRows) {
    if (tag.organization_id === organizationId) tags.set(tag.id, tag);
  }
  const errors = ids.flatMap((id, index) => (tags.has(id) ? [] : [unknownTagError(`tagIds.${index}`, id)]));
  if (errors.length > 0) throw invalidInput(errors);
  const unresolved = new Map<string, string>();
  for (const name of names) {
    const key = foldName(name);
    if (!unresolved.has(key)) unresolved.set(key, name);
  }
  if (unresolved.size > 0) {
    for (const tag of await tagsByKeys(tx, { organization: organizationId, keys: [...unresolved.keys()] })) {
      tags.set(tag.id, tag);
      unresolved.delete(tag.normalized_name);
    }
  }
  if (unresolved.size > 0) {
    const invalid = names.flatMap((name, index) =>
      unresolved.has(foldName(name)) ? (validateName(`tagNames.${index}`, name) ?? []) : [],
    );
    if (invalid.length > 0) throw invalidInput(invalid);
    for (const tag of await createMissingTags(tx, by, organizationId, unresolved)) tags.set(tag.id, tag);
  }
  return [...tags.values()].sort((one, other) => one.id - other.id);
}

/** @param names new names by key; concurrent transactions may have created some of them */
async function createMissingTags(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number,
  names: ReadonlyMap<string, string>,
): Promise<VulnerabilityTagRow[]> {
  const created = await tx
    .insertInto('vulnerability_tags')
    .values(
      // In a fixed order, so that concurrent transactions that create the same names cannot deadlock.
      [...names]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, name]) => ({ organization_id: organizationId, name, normalized_name: key, editable: 1 })),
    )
    .onConflict((conflict) => conflict.columns(['organization_id', 'normalized_name']).doNothing())
    .returning(TAG_COLUMNS)
    .execute();
  for (const tag of created) {
    await recordEvent(tx, by, {
      action: 'vulnerability-tag.create',
      object: ['vulnerability-tag', tag.id],
      organizationId,
      before: null,
      after: { name: tag.name, editable: true },
    });
  }
  if (created.length === names.size) return created;
  return tagsByKeys(tx, { organization: organizationId, keys: [...names.keys()] });
}

export function unknownTagError(property: string, id: number): FieldError {
  return { property, code: 'unknown-vulnerability-tag', value: id };
}
