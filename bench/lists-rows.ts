import { type RawBuilder, sql } from 'kysely';
import type { Engine } from '../src/db/database.ts';

const ASSESSMENTS = 21;
const TAGS = 20;
const USERS = 50;
/** Vulnerabilities of one import, which are all reported at the same time. */
const IMPORT_SIZE = 1_000;
/** When the first vulnerability was reported. */
export const FIRST_REPORT = Date.UTC(2024, 11, 1);
/** Milliseconds from one vulnerability to the next: two years for a million. */
const STEP = 63_000;
const DAY = 86_400_000;
const PORTS = 20;

/** An organization whose rows are written. */
export interface OrganizationRows {
  uid: string;
  id: number;
  vulnerabilities: number;
  /** The first ids of its rows. */
  first: {
    vulnerability: number;
    asset: number;
    assessment: number;
    tag: number;
    user: number;
    import: number;
  };
}

/** SQL with numbers and texts written into it: PostgreSQL cannot tell the types of parameters in a select list. */
const inline = (
  strings: TemplateStringsArray,
  ...values: readonly (RawBuilder<unknown> | number | string)[]
) => sql(strings, ...values.map((value) => (typeof value === 'object' ? value : sql.lit(value))));

/** A number below `below` that looks random, the same on both engines. */
const random = (salt: number, below: number) =>
  inline`(((n.v + 17) * ${7_919 * salt + 104_729} % 4294967291) * 48271 % 2147483647 % ${below})`;

const pick = (salt: number, below: number, cases: readonly (readonly [below: number, value: string])[]) =>
  inline`case ${sql.join(
    cases.map(([limit, value]) => inline`when ${random(salt, below)} < ${limit} then ${sql.raw(value)}`),
    sql` `,
  )} end`;

type Statement = readonly [count: number, statement: (numbers: RawBuilder<unknown>) => RawBuilder<unknown>];

/** @returns the inserts of an organization, with the number of rows of each, and in the order of their references */
export function organizationStatements(filled: OrganizationRows, engine: Engine): Statement[] {
  const { id, uid, vulnerabilities, first } = filled;
  const assets = Math.max(1, Math.floor(vulnerabilities / 20));
  const hosts = Math.max(1, Math.floor(vulnerabilities / PORTS));
  const number = inline`cast(n.v as text)`;
  const padded =
    engine === 'postgres' ? inline`lpad(cast(n.v as text), 20, '0')` : inline`printf('%020d', n.v)`;
  const hexOfId = id.toString(16).padStart(4, '0');
  return [
    [
      USERS,
      (
        rows,
      ) => inline`insert into users (uid, email, normalized_email, name, organization_id, accepted_at, created_at)
        select ${`${uid}-user-`} || ${number}, ${`${uid}-`} || ${number} || '@bench.example',
          ${`${uid}-`} || ${number} || '@bench.example', 'Person ' || ${number}, ${id}, ${FIRST_REPORT}, ${FIRST_REPORT} from ${rows}`,
    ],
    [
      2,
      (rows) => inline`insert into assessment_groups (organization_id, name, created_at)
        select ${id}, ${`${uid} group `} || ${number}, ${FIRST_REPORT} from ${rows}`,
    ],
    [
      ASSESSMENTS,
      (rows) => inline`insert into assessments (uid, organization_id, group_id, name, search_name, created_at)
        select ${`${uid}-`} || ${number}, ${id}, case when n.v < 4 then (select min(id) from assessment_groups
            where organization_id = ${id}) end, ${`${uid} `} || ${number}, ${`${uid} `} || ${number}, ${FIRST_REPORT} from ${rows}`,
    ],
    [
      TAGS,
      (rows) => inline`insert into vulnerability_tags (organization_id, name, normalized_name)
        select ${id}, 'tag ' || ${number}, 'tag ' || ${number} from ${rows}`,
    ],
    [
      Math.ceil(vulnerabilities / IMPORT_SIZE),
      (
        rows,
      ) => inline`insert into imports (organization_id, assessment_id, created_by, state, format, filename, size, sha256,
          created_at, started_at, finished_at, options, started_by_caller)
        select ${id}, ${first.assessment}, ${first.user}, 'succeeded', 'nuclei', 'report.jsonl', 1000, 'none',
          ${FIRST_REPORT} + n.v * ${STEP * IMPORT_SIZE}, ${FIRST_REPORT} + n.v * ${STEP * IMPORT_SIZE},
          ${FIRST_REPORT} + n.v * ${STEP * IMPORT_SIZE}, '{}', '{}' from ${rows}`,
    ],
    [
      assets,
      (
        rows,
      ) => inline`insert into assets (uid, organization_id, type, name, location, search_location, open_vulnerabilities,
          created_at, updated_at)
        select ${hexOfId} || ${padded}, ${id}, 'host', '', ${`host`} || ${number} || '.' || ${uid} || '.example',
          'host' || ${number} || ${`.${uid}.example`}, 10, ${FIRST_REPORT}, ${FIRST_REPORT} + ${random(31, 50_000)} * 1000 from ${rows}`,
    ],
    [
      hosts * PORTS,
      (
        rows,
      ) => inline`insert into ports (asset_id, protocol, number, observed_state, service_name, service_banner, product_name,
          product_version, cpe, first_seen, last_seen)
        select ${first.asset} + n.v / ${PORTS}, 'tcp', 1 + n.v % ${PORTS}, 'open', 'http', null, 'nginx', '1.25.3', null,
          ${FIRST_REPORT}, ${FIRST_REPORT} from ${rows}`,
    ],
    [vulnerabilities, (rows) => vulnerabilityRows(filled, engine, rows)],
    [
      vulnerabilities,
      (rows) => inline`insert into vulnerability_taggings (organization_id, vulnerability_id, tag_id)
        select ${id}, ${first.vulnerability} + n.v, ${first.tag} + case when ${random(11, 100)} < 30 then 0
            when ${random(12, 5_000)} = 0 then ${TAGS - 1} else 1 + ${random(13, TAGS - 2)} end from ${rows}`,
    ],
    [
      vulnerabilities,
      (rows) => inline`insert into vulnerability_assets (organization_id, vulnerability_id, asset_id)
        select ${id}, ${first.vulnerability} + n.v, ${first.asset} + case when ${random(14, 100)} = 0 then 0
            else n.v % ${assets} end from ${rows}`,
    ],
    [
      vulnerabilities,
      (
        rows,
      ) => inline`insert into scanner_findings (vulnerability_id, organization_id, assessment_id, identity_hash, source,
          content_hash, gone_at, gone_import_id)
        select v.id, v.organization_id, v.assessment_id, 'bench' || cast(v.id as text), v.source, '',
          case when ${random(15, 20)} = 0 then ${FIRST_REPORT} + ${DAY} end,
          case when ${random(15, 20)} = 0 then ${first.import} + ${random(16, 20)} * ${Math.ceil(vulnerabilities / IMPORT_SIZE)} / 20 end
        from ${rows} join vulnerabilities v on v.id = ${first.vulnerability} + n.v where v.import_id is not null`,
    ],
    [
      vulnerabilities,
      (
        rows,
      ) => inline`insert into audit_events (at, action, object_type, object_id, organization_id, actor_kind, user_id, before,
          after)
        select ${FIRST_REPORT} + n.v * ${STEP}, 'vulnerability.update', 'vulnerability',
          cast(${first.vulnerability} + n.v as text), ${id}, 'user', ${first.user} + n.v % ${USERS},
          '{"status_id":1}', '{"status_id":2}' from ${rows}`,
    ],
  ];
}

/** Six of ten batches of a thousand are imports, whose rows share their time and repeat their titles. */
function vulnerabilityRows({ id, first }: OrganizationRows, engine: Engine, rows: RawBuilder<unknown>) {
  const batch = inline`(n.v / ${IMPORT_SIZE})`;
  const isImported = inline`${batch} % 5 < 3`;
  const at = inline`(${FIRST_REPORT} + case when ${isImported} then n.v - n.v % ${IMPORT_SIZE} else n.v end * ${STEP})`;
  const status = pick(2, 100, [
    [20, '1'],
    [35, '2'],
    [45, '3'],
    [50, '4'],
    [80, '5'],
    [90, '6'],
    [95, '7'],
    [98, '8'],
    [100, '9'],
  ]);
  const rank = pick(1, 100, [
    [5, '4'],
    [20, '3'],
    [50, '2'],
    [75, '1'],
    [100, '0'],
  ]);
  const dayAfter = (days: RawBuilder<unknown>) =>
    engine === 'postgres'
      ? inline`to_char(timestamp '2026-01-01' + ${days} * interval '1 day', 'YYYY-MM-DD')`
      : inline`date('2026-01-01', '+' || ${days} || ' days')`;
  const title = inline`case when ${isImported} then 'Outdated component ' || cast(${random(5, 2_000)} as text)
    else 'Reflected input ' || cast(n.v as text) || ' in the search form' end`;
  const description = inline`'The parameter q' || cast(n.v % 977 as text) || ' of page' || cast(n.v as text) ||
    ' returns its input to the browser without encoding it'`;
  const cve = inline`case when ${random(6, 10)} < 3 then 'CVE-2024-' || cast(1000 + ${random(7, 5_000)} as text) end`;
  return inline`insert into vulnerabilities (organization_id, assessment_id, severity, status_id, status_set_at, closed_at,
      cvss_score, created_at, updated_at, first_seen_at, created_by, assignee_id, due_on, source, import_id, retest_status,
      draft, title, description, cve_ids, search_title, search_description)
    select ${id}, ${first.assessment} + assessment, case rank when 4 then 'Critical' when 3 then 'High' when 2 then 'Medium'
        when 1 then 'Low' else 'Informational' end,
      status, at, case when status >= 5 then at + ${DAY} end,
      case when scored = 0 then null when rank = 4 then 9 + score % 11 / 10.0 when rank = 3 then 7 + score % 20 / 10.0
        when rank = 2 then 4 + score % 30 / 10.0 when rank = 1 then (1 + score % 39) / 10.0 else 0.0 end,
      at, changed, at, author, assignee, due, source, import, retest, draft, title, description,
      case when cve is null then '[]' else '["' || cve || '"]' end,
      lower(title) || coalesce(${'\n'} || lower(replace(cve, '-', ' ')), ''), lower(description)
    from (select ${at} as at, ${status} as status, ${rank} as rank, ${random(3, 5)} as scored, ${random(4, 1_000)} as score,
      case when n.v < 500 then 20 when ${random(8, 100)} < 30 then 0 else 1 + ${random(9, 19)} end as assessment,
      case when ${random(17, 10)} = 0 then ${FIRST_REPORT + 800 * DAY} else ${at} + ${random(18, 60 * 24 * 60)} * 60000 end as changed,
      case when ${isImported} then null else ${first.user} + ${random(19, USERS)} end as author,
      case when ${random(20, 10)} = 0 then ${first.user} + ${random(21, USERS)} end as assignee,
      case when ${random(22, 4)} = 0 then ${dayAfter(random(23, 400))} end as due,
      case when not ${isImported} then 'manual' when ${batch} = 7 then 'sslscan' when ${batch} % 5 = 2 then 'zap'
        else 'nuclei' end as source,
      case when ${isImported} then ${first.import} + ${batch} end as import,
      case when ${random(24, 1_000)} = 0 then 'requested' when ${random(24, 1_000)} < 10 then 'verified'
        when ${random(24, 1_000)} < 12 then 'failed' end as retest,
      case when ${random(25, 200)} = 0 then 1 else 0 end as draft,
      ${title} as title, ${description} as description, ${cve} as cve from ${rows}) as generated`;
}
