import type { Migration, SchemaDialect } from './migration.ts';

/**
 * Counts the vulnerabilities of organizations and assessments anew: also by source, by the days on which they were
 * reported and closed, and those with a requested retest (ADR 105).
 */
export const sourceCounters: Migration = {
  name: '0019-source-counters',
  statements: ({ engine }) => [
    `delete from counter_deltas where kind in ('organization', 'assessment')`,
    `delete from counters where kind in ('organization', 'assessment')`,
    // Counting a million rows once, and then their counts, is several times faster.
    `create table counted_vulnerabilities as
      select organization_id, assessment_id, source, ${dayOf('created_at', engine)} as opened,
        ${dayOf('closed_at', engine)} as closed,
        cast(status_id as text) as status, cast(severity_rank as text) as severity, cast(draft as text) as draft,
        case when retest_status = 'requested' then 1 else 0 end as is_retested, count(*) as amount
      from vulnerabilities group by 1, 2, 3, 4, 5, 6, 7, 8, 9`,
    ...COUNTERS.flatMap(([kind, bucket, condition]) =>
      ['organization', 'assessment'].map(
        (subject) => `insert into counters (kind, subject, bucket, amount)
          select '${subject}${kind}', ${subject}_id, ${bucket}, sum(amount)
          from counted_vulnerabilities where ${condition} group by 2, 3`,
      ),
    ),
    'drop table counted_vulnerabilities',
  ],
};

const NOW: Record<SchemaDialect['engine'], string> = {
  sqlite: 'unixepoch()',
  postgres: 'cast(extract(epoch from now()) as bigint)',
};

/** Days since 1970 in five digits; `null` if there is no time, or if it is over 100 days ago. */
const dayOf = (column: string, engine: SchemaDialect['engine']) =>
  `case when ${column} / 86400000 >= ${NOW[engine]} / 86400 - 100 then substr(cast(100000 + ${column} / 86400000 as text), 2) end`;

const STATE = `status || ':' || severity || ':' || draft`;

/** The suffixes of the kinds with the buckets of `countersOfDelta`. */
const COUNTERS = [
  ['', STATE, '1 = 1'],
  ['-source', `cast(length(source) as text) || ':' || source || ':' || ${STATE}`, '1 = 1'],
  ...['opened', 'closed'].flatMap((day) => [
    [`-${day}`, `${day} || ':' || status || ':' || draft`, `${day} is not null`],
    [`-${day}-source`, `${day} || ':' || ${STATE} || ':' || source`, `${day} is not null`],
  ]),
  ['-retest', `${STATE} || ':' || source`, 'is_retested = 1'],
] as const;
