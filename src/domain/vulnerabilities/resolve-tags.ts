import type { Attribution } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { normalizeName } from '../../db/dialect-sql.ts';
import { recordEvent } from '../audit/record-event.ts';
import { type FieldError, invalidInput } from '../shared/errors.ts';
import { validateName } from '../shared/names.ts';
import { TAG_COLUMNS, tagsByIds, tagsByKeys, type VulnerabilityTagRow } from './vulnerability-tags.ts';

/** The tags to be: the union of both. */
export interface TagInput {
  /** Ids. */
  tagIds?: readonly number[] | undefined;
  /** Names; unknown ones are created. */
  tagNames?: readonly string[] | undefined;
}

/** @throws Failure `invalid` for a bad name and for an id that no tag of the organization has */
export async function resolveTags(
  tx: Transaction,
  act: Attribution,
  organizationId: number,
  { tagIds: ids = [], tagNames = [] }: TagInput,
): Promise<VulnerabilityTagRow[]> {
  const faults = tagNames.flatMap((name, index) => validateName(`tagNames.${index}`, name) ?? []);
  if (faults.length > 0) throw invalidInput(faults);
  if (ids.length === 0 && tagNames.length === 0) return [];
  const found = ids.length === 0 ? [] : await tagsByIds(tx, { ids });
  return findOrCreateTags(tx, act, organizationId, {
    ids,
    found,
    names: tagNames.map((name) => name.trim()),
  });
}

/**
 * Takes tags of an organization by id, finds others by name, and creates those whose name is new.
 * @param wanted `found` is what `tagsByIds` has for the ids; names are clean already; faults name their places as `tags.0`
 *   and so on
 * @returns each tag once, ordered by id
 * @throws Failure `invalid` for an id that no tag of the organization has
 */
export async function findOrCreateTags(
  tx: Transaction,
  act: Attribution,
  organizationId: number,
  wanted: { ids: readonly number[]; found: readonly VulnerabilityTagRow[]; names: readonly string[] },
): Promise<VulnerabilityTagRow[]> {
  const tags = new Map<number, VulnerabilityTagRow>();
  for (const tag of wanted.found) {
    if (tag.organization_id === organizationId) tags.set(tag.id, tag);
  }
  const faults = wanted.ids.flatMap((id, index) =>
    tags.has(id) ? [] : [unknownTagError(`tagIds.${index}`, id)],
  );
  if (faults.length > 0) throw invalidInput(faults);
  const names = new Map<string, string>();
  for (const name of wanted.names) {
    const key = normalizeName(name);
    if (!names.has(key)) names.set(key, name);
  }
  if (names.size > 0) {
    for (const tag of await tagsByKeys(tx, { organization: organizationId, keys: [...names.keys()] })) {
      tags.set(tag.id, tag);
      names.delete(tag.normalized_name);
    }
  }
  if (names.size > 0) {
    for (const tag of await createMissingTags(tx, act, organizationId, names)) tags.set(tag.id, tag);
  }
  return [...tags.values()].sort((one, other) => one.id - other.id);
}

/** @param names by key; others may create some of them at the same time */
async function createMissingTags(
  tx: Transaction,
  act: Attribution,
  organizationId: number,
  names: ReadonlyMap<string, string>,
): Promise<VulnerabilityTagRow[]> {
  const created = await tx
    .insertInto('vulnerability_tags')
    .values(
      // In one order, so that two who create the same names wait for each other and do not lock each other out.
      [...names]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, name]) => ({ organization_id: organizationId, name, normalized_name: key, editable: 1 })),
    )
    .onConflict((conflict) => conflict.columns(['organization_id', 'normalized_name']).doNothing())
    .returning(TAG_COLUMNS)
    .execute();
  for (const tag of created) {
    await recordEvent(tx, act, {
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

/** @returns the fault of an id that no tag of the organization has */
export function unknownTagError(property: string, id: number): FieldError {
  return { property, code: 'unknown-vulnerability-tag', value: id };
}
