import { type RawBuilder, sql } from 'kysely';
import { cliChangeContext } from '../src/auth/callers.ts';
import type { Database, Engine, Transaction } from '../src/db/database.ts';
import { dialects } from '../src/db/migrate.ts';
import { sourceCounters } from '../src/db/migrations/0019-source-counters.ts';
import { createAssessment } from '../src/domain/assessments/create-assessment.ts';
import { createUser } from '../src/domain/users/users.ts';
import { createOrganization } from '../src/domain/users/staff-organizations.ts';
import type { Keys } from '../src/auth/keys.ts';
import { issueToken } from '../src/domain/tokens/tokens.ts';

/** The number of rows in an organization. */
interface Size {
  vulnerabilities: number;
  assets: number;
  assessments: number;
}

const ORGANIZATIONS = Number(process.env['BENCH_ORGANIZATIONS'] ?? 10);
const LARGE: Size = {
  vulnerabilities: Number(process.env['BENCH_VULNERABILITIES'] ?? 1_000_000) / ORGANIZATIONS,
  assets: Number(process.env['BENCH_ASSETS'] ?? 200_000) / ORGANIZATIONS,
  assessments: 10,
};
const SMALL: Size = { vulnerabilities: 1_000, assets: 200, assessments: 10 };
const TAGS = 20;
const PORTS = 20;
const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
/** Rows per transaction. */
const BATCH_SIZE = 25_000;

/** An organization with the ids that the requests use. */
export interface LargeOrganization {
  uid: string;
  token: string;
  assessment: string;
  /** Its first tag and asset. */
  tag: number;
  asset: string;
  /** Its vulnerabilities have this id and the following ones. */
  firstVulnerability: number;
  vulnerabilities: number;
}

/**
 * Adds ten large organizations and a small one: a million vulnerabilities with tags and assets, and hosts with ports.
 * Inserts by SQL, as the domain's rules would take an hour.
 */
export async function fillLarge(
  db: Database,
  engine: Engine,
  keys: Keys,
  onProgress: (text: string) => void,
): Promise<{ large: LargeOrganization; small: LargeOrganization }> {
  const numbers = numbersOf(engine);
  const small = await fillOrganization(db, keys, numbers, 'small', SMALL);
  let large: LargeOrganization | undefined;
  for (let index = 0; index < ORGANIZATIONS; index += 1) {
    onProgress(`${engine}: large organization ${index + 1} of ${ORGANIZATIONS}`);
    large = await fillOrganization(db, keys, numbers, `large${index}`, LARGE);
  }
  if (large === undefined) throw new Error('There is no large organization.');
  await db.write(recountVulnerabilities);
  return { large, small };
}

/** @returns the number series of an engine */
export function numbersOf(engine: Engine): Numbers {
  const counting = (from: number, count: number): RawBuilder<unknown> =>
    engine === 'postgres'
      ? sql`generate_series(${from}::bigint, ${from + count - 1}::bigint) as n (v)`
      : sql`(with recursive n (v) as (select ${from} union all select v + 1 from n where v < ${from + count - 1})
          select v from n) as n`;
  const padded = engine === 'postgres' ? sql`lpad(cast(n.v as text), 20, '0')` : sql`printf('%020d', n.v)`;
  return Object.assign(counting, { padded });
}

/** Returns a table `n` with the numbers in its column `v`; `padded` is each of them with twenty digits. */
export type Numbers = ((from: number, count: number) => RawBuilder<unknown>) & {
  padded: RawBuilder<unknown>;
};

/**
 * Adds an organization with an admin, whose vulnerabilities are spread over its assessments, tags and assets in turn.
 */
export async function fillOrganization(
  db: Database,
  keys: Keys,
  numbers: Numbers,
  uid: string,
  size: Size,
): Promise<LargeOrganization> {
  const act = cliChangeContext(START);
  const { id: organization } = await db.write((tx) => createOrganization(tx, act, { uid, name: uid }));
  const admin = await db.write((tx) =>
    createUser(tx, act, { email: `admin@${uid}.example`, organization: uid, admin: true }),
  );
  const { token } = await db.write((tx) =>
    issueToken(tx, act, keys, { userId: admin.id, kind: 'personal', expiresAt: null }),
  );
  await db.write(async (tx) => {
    for (let number = 0; number < size.assessments; number += 1)
      await createAssessment(tx, act, {
        uid: `${uid}-${number}`,
        name: `${uid} ${number}`,
        organization: uid,
      });
  });
  const assessments = await db.read
    .selectFrom('assessments')
    .select('id')
    .where('organization_id', '=', organization)
    .orderBy('id')
    .execute();
  await db.write((tx) =>
    sql`insert into vulnerability_tags (organization_id, name, normalized_name)
      select ${organization}, 'tag ' || cast(n.v as text), 'tag ' || cast(n.v as text) from ${numbers(0, TAGS)}`.execute(
      tx,
    ),
  );
  const tag = await db.read
    .selectFrom('vulnerability_tags')
    .select('id')
    .where('organization_id', '=', organization)
    .orderBy('id')
    .executeTakeFirstOrThrow();
  const first = { ...(await firstIds(db)), tag: tag.id, assessment: assessments[0]?.id ?? 0 };
  await fillRows(db, { organization, uid, size, first, numbers });
  await db.write((tx) => countAll(tx, organization));
  const asset = await db.read
    .selectFrom('assets')
    .select('uid')
    .where('id', '=', first.asset)
    .executeTakeFirstOrThrow();
  return {
    uid,
    token,
    assessment: `${uid}-0`,
    tag: first.tag,
    asset: asset.uid,
    firstVulnerability: first.vulnerability,
    vulnerabilities: size.vulnerabilities,
  };
}

interface RowsOfOrganization {
  organization: number;
  uid: string;
  size: Size;
  /** The lowest ids of its rows. */
  first: Awaited<ReturnType<typeof firstIds>> & { tag: number; assessment: number };
  numbers: Numbers;
}

/** Inserts assets with ports, and vulnerabilities with tags and assets. */
async function fillRows(
  db: Database,
  { organization, uid, size, first, numbers }: RowsOfOrganization,
): Promise<void> {
  const inBatches = async (count: number, statement: (from: number, rows: number) => RawBuilder<unknown>) => {
    for (let from = 0; from < count; from += BATCH_SIZE) {
      const rows = Math.min(BATCH_SIZE, count - from);
      await db.write((tx) => statement(from, rows).execute(tx));
    }
  };
  await inBatches(
    size.assets,
    (
      from,
      rows,
    ) => sql`insert into assets (uid, organization_id, type, name, location, search_location, open_vulnerabilities,
        created_at, updated_at)
      select ${uidPrefix(organization)} || ${numbers.padded}, ${organization}, 'host',
        '', ${uid} || '-' || cast(n.v as text) || '.example', ${uid} || '-' || cast(n.v as text) || '.example',
        ${Math.floor(size.vulnerabilities / size.assets)}, ${START}, ${START} from ${numbers(from, rows)}`,
  );
  await inBatches(
    size.assets * PORTS,
    (
      from,
      rows,
    ) => sql`insert into ports (asset_id, protocol, number, observed_state, service_name, service_banner,
        product_name, product_version, cpe, first_seen, last_seen)
      select ${first.asset} + n.v / ${PORTS}, 'tcp', 1 + n.v % ${PORTS}, 'open', 'http', null, 'nginx', '1.25.3', null, ${START},
        ${START} from ${numbers(from, rows)}`,
  );
  await inBatches(
    size.vulnerabilities,
    (
      from,
      rows,
    ) => sql`insert into vulnerabilities (organization_id, assessment_id, severity, status_id, status_set_at,
        closed_at, cvss_score, created_at, updated_at, first_seen_at, title, description, cve_ids,
        search_title, search_description)
      select ${organization}, ${first.assessment} + n.v % ${size.assessments},
        case n.v % 5 when 0 then 'Critical' when 1 then 'High' when 2 then 'Medium' when 3 then 'Low' else 'Informational' end,
        1 + n.v % 9, ${START}, case when n.v % 9 >= 4 then cast(${START} as bigint) end, 7.5, ${START} + n.v * ${MINUTE},
        ${START} + n.v * ${MINUTE}, ${START}, 'Reflected input ' || cast(n.v as text),
        'Reflected input in the search form of shop ' || cast(n.v as text),
        '["CVE-2024-' || cast(n.v as text) || '"]',
        'reflected input ' || cast(n.v as text) || ${'\n'} || 'cve 2024 ' || cast(n.v as text),
        'reflected input in the search form of shop ' || cast(n.v as text)
      from ${numbers(from, rows)}`,
  );
  await inBatches(
    size.vulnerabilities,
    (from, rows) => sql`insert into vulnerability_taggings (organization_id, vulnerability_id, tag_id)
      select ${organization}, ${first.vulnerability} + n.v, ${first.tag} + n.v % ${TAGS} from ${numbers(from, rows)}`,
  );
  await inBatches(
    size.vulnerabilities,
    (from, rows) => sql`insert into vulnerability_assets (organization_id, vulnerability_id, asset_id)
      select ${organization}, ${first.vulnerability} + n.v, ${first.asset} + n.v % ${size.assets} from ${numbers(from, rows)}`,
  );
}

/** Counts the vulnerabilities of all organizations and assessments as the domain's rules would. */
export async function recountVulnerabilities(tx: Transaction): Promise<void> {
  // The migration ran before there were counters by source and day.
  await sql`delete from counters where kind like 'assessment%'
    or kind like 'organization%' and kind <> 'organization-ports'`.execute(tx);
  for (const statement of sourceCounters.statements(dialects[tx.engine]))
    await sql.raw(statement).execute(tx);
}

/** Sets the other counters. */
async function countAll(tx: Transaction, organization: number): Promise<void> {
  const insert = sql`insert into counters (kind, subject, bucket, amount)`;
  await sql`${insert} select 'vulnerability-tag', tag_id, 'all', count(*) from vulnerability_taggings
    where organization_id = ${organization} group by 2`.execute(tx);
  await sql`${insert} select 'asset', asset_id, case when status_id >= 5 then 'closed' else 'open' end, count(*)
    from vulnerability_assets join vulnerabilities on vulnerabilities.id = vulnerability_id
    where vulnerabilities.organization_id = ${organization} group by 2, 3`.execute(tx);
  await sql`${insert} select 'organization-ports', organization_id, 'open:000' || ${twoDigits} || '/tcp', count(*)
    from ports join assets on assets.id = ports.asset_id where organization_id = ${organization} group by 2, 3`.execute(
    tx,
  );
}

/** `number`, which is below 100, with two digits. */
const twoDigits = sql`case when number < 10 then '0' else '' end || cast(number as text)`;

/** The next id of each table, which is known because nothing else writes. */
async function firstIds(db: Database) {
  const next = async (table: 'assets' | 'vulnerabilities') => {
    const { rows } = await sql<{
      id: number;
    }>`select coalesce(max(id), 0) + 1 as id from ${sql.table(table)}`.execute(db.read);
    return rows[0]?.id ?? 1;
  };
  return { asset: await next('assets'), vulnerability: await next('vulnerabilities') };
}

const uidPrefix = (organization: number) => organization.toString(16).padStart(4, '0');
