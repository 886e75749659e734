import { sql } from 'kysely';
import { inList } from '../../db/dialect-sql.ts';
import { type ListContext, searchFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import {
  inAccessibleOrganization,
  assessmentIsVisible,
  visibilityOf,
  visibilityParameters,
} from '../shared/visibility.ts';

/** `count`: the assessments with the tag that the caller can see. */
export interface CountedAssessmentTag {
  id: number;
  name: string;
  count: number;
}

/** The assessment tags of the caller's organizations (operation 34). */
export const assessmentTagList = defineList({
  name: 'assessment-tags',
  rows: ({ db, caller }) =>
    db
      .selectFrom('assessment_tags')
      .select(['id', 'name'])
      .where(({ ref }) =>
        inAccessibleOrganization(
          visibilityOf(caller),
          ref('assessment_tags.organization_id'),
          visibilityParameters(caller),
        ),
      ),
  id: 'assessment_tags.id',
  organization: 'assessment_tags.organization_id',
  filters: { search: searchFilter('assessment_tags.normalized_name') },
  sorts: { name: { column: 'assessment_tags.name', type: 'text' } },
  async hydrate(listContext, rows): Promise<CountedAssessmentTag[]> {
    const counts = await countTagged(
      listContext,
      rows.map(({ id }) => id),
    );
    return rows.map(({ id, name }) => ({ id, name, count: counts.get(id) ?? 0 }));
  },
});

/** @returns by tag, the number of visible assessments */
async function countTagged(
  { db, caller }: ListContext,
  tags: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('assessment_taggings as tagging')
    .innerJoin('assessments', 'assessments.id', 'tagging.assessment_id')
    .select(['tagging.tag_id', sql<number>`count(*)`.as('count')])
    .where(({ ref }) => inList(db, ref('tagging.tag_id'), tags))
    .where(assessmentIsVisible(visibilityOf(caller, 'read'), visibilityParameters(caller)))
    .groupBy('tagging.tag_id')
    .execute();
  return new Map(rows.map(({ tag_id, count }) => [tag_id, count]));
}
