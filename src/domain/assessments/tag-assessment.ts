import type { ChangeContext } from '../../auth/callers.ts';
import { prepareInsert } from '../../db/bulk-insert.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { type AttributedChange, recordEvents } from '../audit/record-event.ts';
import { type FieldError, invalidInput } from '../shared/errors.ts';
import { validateName, validateNameLength } from '../shared/names.ts';
import { foldName } from '../../lib/fold-case.ts';

export interface AssessmentTagRef {
  id: number;
  name: string;
}

/** The union of both replaces the tags. Without either they stay. */
export interface TagSelection {
  /** Ids. */
  tagIds?: readonly number[] | undefined;
  /** Names, compared case-insensitively and trimmed. */
  tagNames?: readonly string[] | undefined;
}

const insertTaggings = prepareInsert('assessment_taggings', {
  organization_id: 'int',
  assessment_id: 'int',
  tag_id: 'int',
});

/** @returns tags by assessment, ordered by id */
export async function loadAssessmentTags(
  db: ReadConnection,
  assessmentIds: readonly number[],
): Promise<ReadonlyMap<number, AssessmentTagRef[]>> {
  const rows = await db
    .selectFrom('assessment_taggings as tagging')
    .innerJoin('assessment_tags as tag', 'tag.id', 'tagging.tag_id')
    .select(['tagging.assessment_id', 'tag.id', 'tag.name'])
    .where(({ ref }) => inList(db, ref('tagging.assessment_id'), assessmentIds))
    .orderBy('tagging.assessment_id')
    .orderBy('tag.id')
    .execute();
  const tags = new Map<number, AssessmentTagRef[]>();
  for (const { assessment_id, ...tag } of rows) {
    const assessmentTags = tags.get(assessment_id);
    if (assessmentTags === undefined) tags.set(assessment_id, [tag]);
    else assessmentTags.push(tag);
  }
  return tags;
}

export function validateTagNames({ tagNames = [] }: TagSelection): FieldError[] {
  return tagNames.flatMap((name, index) => validateNameLength(`tagNames.${index}`, name) ?? []);
}

/**
 * @param mayCreate whether unknown names become tags
 * @returns the selected tags, ordered by id; `undefined` without a selection
 * @throws DomainError `invalid` for an unknown id, and for an unknown name unless `mayCreate`
 */
export async function resolveAssessmentTags(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number,
  { tagIds, tagNames }: TagSelection,
  mayCreate: boolean,
): Promise<AssessmentTagRef[] | undefined> {
  if (tagIds === undefined && tagNames === undefined) return undefined;
  const [ids, names] = [tagIds ?? [], tagNames ?? []];
  const existingTags = await findTags(tx, organizationId, ids, names.map(foldName));
  const byId = new Map(existingTags.map((tag) => [tag.id, tag]));
  const byKey = new Map(existingTags.map((tag) => [tag.normalized_name, tag]));
  const errors = [
    ...ids.flatMap((id, index) => (byId.has(id) ? [] : [unknownTagError(`tagIds.${index}`, id, 'id')])),
    ...names.flatMap((name, index) =>
      byKey.has(foldName(name))
        ? []
        : mayCreate
          ? (validateName(`tagNames.${index}`, name) ?? [])
          : unknownTagError(`tagNames.${index}`, name, 'name'),
    ),
  ];
  if (errors.length > 0) throw invalidInput(errors);
  const missing = new Map<string, string>();
  for (const name of names) {
    const key = foldName(name);
    if (!byKey.has(key) && !missing.has(key)) missing.set(key, name.trim());
  }
  const created = missing.size === 0 ? [] : await createTags(tx, by, organizationId, missing);
  const tags = new Map([...existingTags, ...created].map(({ id, name }) => [id, { id, name }]));
  return [...tags.values()].sort((one, other) => one.id - other.id);
}

function unknownTagError(property: string, value: unknown, key: 'id' | 'name'): FieldError {
  return { property, code: 'unknown-assessment-tag', params: { by: key }, value };
}

async function findTags(
  db: ReadConnection,
  organizationId: number,
  ids: readonly number[],
  keys: readonly string[],
): Promise<(AssessmentTagRef & { normalized_name: string })[]> {
  return db
    .selectFrom('assessment_tags')
    .select(['id', 'name', 'normalized_name'])
    .where('organization_id', '=', organizationId)
    .where(({ or, ref }) => or([inList(db, ref('id'), ids), inList(db, ref('normalized_name'), keys)]))
    .execute();
}

/** @param names new names by key; concurrent transactions may have created some of them */
async function createTags(
  tx: Transaction,
  by: ChangeContext,
  organizationId: number,
  names: ReadonlyMap<string, string>,
): Promise<AssessmentTagRef[]> {
  const created = await tx
    .insertInto('assessment_tags')
    .values(
      // In a fixed order, so that concurrent transactions cannot deadlock.
      [...names]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, name]) => ({ organization_id: organizationId, name, normalized_name: key })),
    )
    .onConflict((conflict) => conflict.columns(['organization_id', 'normalized_name']).doNothing())
    .returning(['id', 'name'])
    .execute();
  await recordEvents(
    tx,
    created.map(({ id, name }): AttributedChange => ({
      by,
      change: {
        action: 'assessment-tag.create',
        object: ['assessment-tag', id],
        organizationId,
        before: null,
        after: { name },
      },
    })),
  );
  return created.length === names.size ? created : findTags(tx, organizationId, [], [...names.keys()]);
}

/** Replaces the tags of a locked assessment. */
export async function replaceAssessmentTags(
  tx: Transaction,
  { id, organizationId }: { id: number; organizationId: number },
  before: readonly AssessmentTagRef[],
  after: readonly AssessmentTagRef[],
): Promise<void> {
  const lacks = (tags: readonly AssessmentTagRef[]) => {
    const tagIds = new Set(tags.map((tag) => tag.id));
    return (tag: AssessmentTagRef) => !tagIds.has(tag.id);
  };
  const removed = before.filter(lacks(after)).map((tag) => tag.id);
  const added = after.filter(lacks(before));
  if (removed.length > 0)
    await tx
      .deleteFrom('assessment_taggings')
      .where('assessment_id', '=', id)
      .where(({ ref }) => inList(tx, ref('tag_id'), removed))
      .execute();
  await insertTaggings(
    tx,
    added.map((tag) => [organizationId, id, tag.id]),
  );
}
