import { sql } from 'kysely';
import { isOneOf } from '../../db/dialect-sql.ts';
import { type Reading, searchIn } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import {
  belongsToOrganization,
  listingWithin,
  reachOfAccount,
  reachParameters,
} from '../shared/visibility.ts';

/** A tag, and how many assessments that the caller reaches have it. */
export interface CountedAssessmentTag {
  id: number;
  name: string;
  count: number;
}

/** The assessment tags of the caller's organization, or of those that staff reach (operation 34). */
export const assessmentTagList = defineList({
  name: 'assessment-tags',
  rows: ({ db, caller }) =>
    db
      .selectFrom('assessment_tags')
      .select(['id', 'name'])
      .where(({ ref }) =>
        belongsToOrganization(
          reachOfAccount(caller),
          ref('assessment_tags.organization_id'),
          reachParameters(caller),
        ),
      ),
  id: 'assessment_tags.id',
  organization: 'assessment_tags.organization_id',
  filters: { search: searchIn('assessment_tags.name_key') },
  orders: { name: { by: 'assessment_tags.name', type: 'text' } },
  async items(reading, rows): Promise<CountedAssessmentTag[]> {
    const counts = await countTagged(
      reading,
      rows.map(({ id }) => id),
    );
    return rows.map(({ id, name }) => ({ id, name, count: counts.get(id) ?? 0 }));
  },
});

/** @returns by tag, how many assessments that the caller reaches have it */
async function countTagged(
  { db, caller }: Reading,
  tags: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('assessment_taggings as tagging')
    .innerJoin('assessments', 'assessments.id', 'tagging.assessment_id')
    .select(['tagging.tag_id', sql<number>`count(*)`.as('count')])
    .where(({ ref }) => isOneOf(db, ref('tagging.tag_id'), tags))
    .where(listingWithin(reachOfAccount(caller), reachParameters(caller)))
    .groupBy('tagging.tag_id')
    .execute();
  return new Map(rows.map(({ tag_id, count }) => [tag_id, count]));
}
