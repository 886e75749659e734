import type { Act } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { invalid } from '../shared/failure.ts';
import { nameFault } from '../shared/names.ts';
import { findOrCreateTags, tagsByIds, type VulnerabilityTagRow } from './vulnerability-tags.ts';

/** The tags to be: the union of both. */
export interface TagsInput {
  /** Ids. */
  tagIds?: readonly number[] | undefined;
  /** Names; unknown ones are created. */
  tagNames?: readonly string[] | undefined;
}

/** @throws Failure `invalid` for a bad name and for an id that no tag of the organization has */
export async function findTags(
  tx: Transaction,
  act: Act,
  organizationId: number,
  { tagIds: ids = [], tagNames = [] }: TagsInput,
): Promise<VulnerabilityTagRow[]> {
  const faults = tagNames.flatMap((name, index) => nameFault(`tagNames.${index}`, name) ?? []);
  if (faults.length > 0) throw invalid(faults);
  if (ids.length === 0 && tagNames.length === 0) return [];
  const found = ids.length === 0 ? [] : await tagsByIds(tx, { ids });
  return findOrCreateTags(tx, act, organizationId, {
    ids,
    found,
    names: tagNames.map((name) => name.trim()),
  });
}
