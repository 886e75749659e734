import { type SqlBool, sql } from 'kysely';
import { containsText, isOneOf, nameKey } from '../../db/portable.ts';
import { type Filter, integersIn, searchKey, since, textsIn } from '../shared/filters.ts';
import { defineList } from '../shared/lists.ts';
import { listingWithin, reachOfAccount, reachParameters } from '../shared/reach.ts';
import { PHASES, SEVERITIES, statusesOf } from './catalogue.ts';

const column = (name: string) => sql.ref<string>(`vulnerabilities.${name}`);

/** The vulnerabilities that the caller reaches, by all that they may be narrowed by where many are changed. */
export const changeableVulnerabilities = defineList({
  name: 'changeable-vulnerabilities',
  rows: ({ db, caller }) =>
    db
      .selectFrom('vulnerabilities')
      .select('vulnerabilities.id')
      .where(
        sql<SqlBool>`exists (select 1 from assessments where assessments.id = vulnerabilities.assessment_id
          and ${listingWithin(reachOfAccount(caller), reachParameters(caller))})`,
      ),
  id: 'vulnerabilities.id',
  organization: 'vulnerabilities.organization_id',
  filters: {
    search: search(),
    statusId: integersIn('vulnerabilities.status_id'),
    phase: {
      kind: 'texts',
      oneOf: PHASES,
      where: ({ db }, phases) =>
        isOneOf(db, sql.ref<number>('vulnerabilities.status_id'), statusesOf(phases)),
    },
    severity: textsIn('vulnerabilities.severity', { oneOf: SEVERITIES }),
    tagId: {
      kind: 'integers',
      where: (
        { db },
        ids,
      ) => sql<SqlBool>`vulnerabilities.id in (select vulnerability_id from vulnerability_taggings
        where ${isOneOf(db, sql.ref<number>('tag_id'), ids)})`,
    },
    tag: {
      kind: 'texts',
      where: ({ db }, names) => sql<SqlBool>`vulnerabilities.id in (
        select tagging.vulnerability_id from vulnerability_taggings as tagging
        join vulnerability_tags as tag on tag.id = tagging.tag_id
        where ${isOneOf(db, sql.ref<string>('tag.name_key'), names.map(nameKey))})`,
    },
    assessmentId: {
      kind: 'texts',
      where: (
        { db },
        uids,
      ) => sql<SqlBool>`vulnerabilities.assessment_id in (select assessments.id from assessments
        where ${isOneOf(db, sql.ref<string>('assessments.uid'), uids)})`,
    },
    assessmentGroupId: {
      kind: 'integers',
      where: (
        { db },
        ids,
      ) => sql<SqlBool>`vulnerabilities.assessment_id in (select assessments.id from assessments
        where ${isOneOf(db, sql.ref<number>('assessments.group_id'), ids)})`,
    },
    assetUid: {
      kind: 'texts',
      where: ({ db }, uids) => sql<SqlBool>`vulnerabilities.id in (
        select link.vulnerability_id from vulnerability_assets as link join assets on assets.id = link.asset_id
        where ${isOneOf(db, sql.ref<string>('assets.uid'), uids)})`,
    },
    source: textsIn('vulnerabilities.source'),
    cve: {
      kind: 'texts',
      where: (_reading, ids) =>
        sql<SqlBool>`(${sql.join(
          ids.map((id) => containsText(column('cve_ids'), JSON.stringify(id.toUpperCase()))),
          sql` or `,
        )})`,
    },
    importId: integersIn('vulnerabilities.import_id'),
    createdBy: integersIn('vulnerabilities.created_by'),
    assigneeId: integersIn('vulnerabilities.assignee_id'),
    dueUntil: { kind: 'day', where: (_reading, day) => sql<SqlBool>`${column('due_on')} < ${day}` },
    retest: textsIn('vulnerabilities.retest_status', {
      oneOf: ['requested', 'verified', 'failed', 'blocked', 'cancelled'],
    }),
    id: integersIn('vulnerabilities.id'),
    updatedSince: since('vulnerabilities.updated_at'),
    updatedWithin: {
      kind: 'count',
      where: ({ now }, seconds) => sql<SqlBool>`${column('updated_at')} >= ${now - seconds * 1_000}`,
    },
    createdSince: since('vulnerabilities.created_at'),
  },
  orders: { id: { by: 'vulnerabilities.id', type: 'integer' } },
  items: (_reading, rows) => rows,
});

/** Of title, description, tag names, and the assessment's uid and name; of one or two characters, not of the description. */
function search(): Filter<'search'> {
  return {
    kind: 'search',
    where(_reading, text) {
      const key = searchKey(text);
      const any = [
        containsText(column('title_key'), key),
        ...([...key].length < 3 ? [] : [containsText(column('description_key'), key)]),
        sql<SqlBool>`vulnerabilities.id in (select tagging.vulnerability_id from vulnerability_taggings as tagging
          join vulnerability_tags as tag on tag.id = tagging.tag_id
          where ${containsText(sql.ref<string>('tag.name_key'), key)})`,
        sql<SqlBool>`vulnerabilities.assessment_id in (select assessments.id from assessments
          where ${containsText(sql.ref<string>('assessments.name_key'), key)} or ${containsText(sql.ref<string>('assessments.uid'), key)})`,
      ];
      return sql<SqlBool>`(${sql.join(any, sql` or `)})`;
    },
  };
}
