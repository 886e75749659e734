import { type Selectable, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { Reader } from '../../db/engine.ts';
import { isOneOf, unpackRows } from '../../db/portable.ts';
import { prepare } from '../../db/prepared.ts';
import type { VulnerabilityTable } from '../../db/schema/vulnerabilities.ts';
import { grouped } from '../shared/grouped.ts';
import { missing } from '../shared/failure.ts';
import { type NamedUser, nameUsers } from '../shared/named-users.ts';
import {
  listingWithin,
  perReach,
  reachOfAccount,
  type ReachParameters,
  reachParameters,
} from '../shared/reach.ts';
import { attachmentsOf, type StoredAttachment } from './attachments.ts';
import { severityRank } from './catalogue.ts';
import type { Category, ValidationStep } from './finding.ts';
import type { ExploitableLocation } from './locations.ts';
import { type VulnerabilityTag, vulnerabilityTagOf, type VulnerabilityTagRow } from './vulnerability-tags.ts';

/** An assessment, as its vulnerabilities name it. */
export interface NamedAssessment {
  id: number;
  uid: string;
  type: string;
}

/** A vulnerability with all that its readers are told; times in milliseconds since 1970. */
export interface WholeVulnerability {
  id: number;
  version: number;
  organizationId: number;
  assessment: NamedAssessment;
  title: string;
  description: string;
  severity: string;
  statusId: number;
  statusSetAt: number;
  closedAt: number | null;
  /** 0 to 10; `null` when it was not scored. */
  cvssScore: number | null;
  cvssVector: string | null;
  /** The score, else the foot of the severity's band. */
  cvssFinal: number;
  category: Category;
  impact: string;
  recommendedFix: string;
  cveIds: readonly string[];
  cweIds: readonly string[];
  exploitableLocations: readonly ExploitableLocation[];
  /** All that were seen, kept or not. */
  locationCount: number;
  validationSteps: readonly ValidationStep[];
  httpRequests: readonly string[];
  referenceUrls: readonly string[];
  assetUids: readonly string[];
  createdAt: number;
  updatedAt: number;
  createdBy: NamedUser | null;
  assignee: NamedUser | null;
  /** A day: `2026-11-22`. */
  dueOn: string | null;
  source: string;
  firstSeenAt: number;
  lastSeenAt: number;
  importId: number | null;
  lastImportId: number | null;
  /** When a whole report no longer had it, and its import; `null` for what is not gone. */
  goneAt: number | null;
  goneImportId: number | null;
  /** Those that the reader sees. */
  commentCount: number;
  tags: readonly VulnerabilityTag[];
  attachments: readonly StoredAttachment[];
}

/** The columns of a row. What it is searched by is none of them. */
export const WHOLE_COLUMNS = [
  'vulnerabilities.id',
  'vulnerabilities.organization_id',
  'vulnerabilities.assessment_id',
  'vulnerabilities.severity',
  'vulnerabilities.status_id',
  'vulnerabilities.status_set_at',
  'vulnerabilities.closed_at',
  'vulnerabilities.cvss_score',
  'vulnerabilities.cvss_vector',
  'vulnerabilities.created_at',
  'vulnerabilities.updated_at',
  'vulnerabilities.version',
  'vulnerabilities.created_by',
  'vulnerabilities.assignee_id',
  'vulnerabilities.due_on',
  'vulnerabilities.source',
  'vulnerabilities.first_seen_at',
  'vulnerabilities.import_id',
  'vulnerabilities.location_count',
  'vulnerabilities.title',
  'vulnerabilities.category_parent',
  'vulnerabilities.category_display',
  'vulnerabilities.cve_ids',
  'vulnerabilities.cwe_ids',
  'vulnerabilities.description',
  'vulnerabilities.impact',
  'vulnerabilities.recommended_fix',
  'vulnerabilities.exploitable_locations',
  'vulnerabilities.validation_steps',
  'vulnerabilities.http_requests',
  'vulnerabilities.reference_urls',
] as const;

/** A row of `vulnerabilities` as far as it is told. */
export type WholeRow = Omit<
  Selectable<VulnerabilityTable>,
  'severity_rank' | 'reported_at' | 'retest_status' | 'status_before_retest' | 'title_key' | 'description_key'
>;

const NAMES = WHOLE_COLUMNS.map((column) => column.slice('vulnerabilities.'.length) as keyof WholeRow);

/** @param rows with `WHOLE_COLUMNS` as `wide` selects them */
export function unpackVulnerabilities(rows: readonly WholeRow[]): WholeRow[] {
  return unpackRows(NAMES, rows);
}

const assessmentsByIds = prepare<{ ids: readonly number[] }, NamedAssessment>((db, p) =>
  db
    .selectFrom('assessments')
    .select(['id', 'uid', 'type'])
    .where((eb) => isOneOf(db, eb.ref('id'), p.ids)),
);

export const tagsOf = prepare<{ ids: readonly number[] }, VulnerabilityTagRow & { vulnerability_id: number }>(
  (db, p) =>
    db
      .selectFrom('vulnerability_taggings as tagging')
      .innerJoin('vulnerability_tags as tag', 'tag.id', 'tagging.tag_id')
      .select([
        'tagging.vulnerability_id',
        'tag.id',
        'tag.organization_id',
        'tag.name',
        'tag.name_key',
        'tag.editable',
      ])
      .where((eb) => isOneOf(db, eb.ref('tagging.vulnerability_id'), p.ids))
      .orderBy('tagging.vulnerability_id')
      .orderBy('tagging.tag_id'),
);

const assetUidsOf = prepare<{ ids: readonly number[] }, { vulnerability_id: number; uid: string }>((db, p) =>
  db
    .selectFrom('vulnerability_assets')
    .innerJoin('assets', 'assets.id', 'vulnerability_assets.asset_id')
    .select(['vulnerability_assets.vulnerability_id', 'assets.uid'])
    .where((eb) => isOneOf(db, eb.ref('vulnerability_assets.vulnerability_id'), p.ids))
    .orderBy('vulnerability_assets.vulnerability_id')
    .orderBy('vulnerability_assets.asset_id'),
);

/** When scanners saw what they found: that is kept apart, so that seeing it again writes little. */
const sightingsOf = prepare<{ ids: readonly number[] }, Sightings>((db, p) =>
  db
    .selectFrom('scanner_findings')
    .select([
      'vulnerability_id',
      'first_seen_at',
      'last_seen_at',
      'last_import_id',
      'gone_at',
      'gone_import_id',
    ])
    .where((eb) => isOneOf(db, eb.ref('vulnerability_id'), p.ids)),
);

interface Sightings {
  vulnerability_id: number;
  first_seen_at: number;
  last_seen_at: number;
  last_import_id: number;
  gone_at: number | null;
  gone_import_id: number | null;
}

/** Those that the reader sees: staff all of them. */
const commentCountsOf = prepare<
  { ids: readonly number[]; internal: number },
  { vulnerability_id: number; count: number }
>((db, p) =>
  db
    .selectFrom('comments')
    .select(['vulnerability_id', sql<number>`count(*)`.as('count')])
    .where((eb) => isOneOf(db, eb.ref('vulnerability_id'), p.ids))
    .where('internal', '<=', p.internal)
    .groupBy('vulnerability_id'),
);

/**
 * Completes rows with what they refer to, which is read for all of them at once.
 * @param options whether their attachments are told
 */
export async function completeVulnerabilities(
  db: Reader,
  caller: Caller,
  rows: readonly WholeRow[],
  { withAttachments }: { withAttachments: boolean },
): Promise<WholeVulnerability[]> {
  const ids = rows.map(({ id }) => id);
  const assessmentIds = [...new Set(rows.map(({ assessment_id }) => assessment_id))];
  const found = rows.flatMap(({ id, import_id }) => (import_id === null ? [] : [id]));
  const [assessments, tags, attachments, assets, comments, sightings, userOf] = await Promise.all([
    assessmentsByIds(db, { ids: assessmentIds }),
    tagsOf(db, { ids }),
    attachmentsOf(db, withAttachments ? ids : []),
    assetUidsOf(db, { ids }),
    commentCountsOf(db, { ids, internal: caller.staff ? 1 : 0 }),
    found.length === 0 ? [] : sightingsOf(db, { ids: found }),
    nameUsers(
      db,
      rows.flatMap(({ created_by, assignee_id }) => [created_by, assignee_id]),
    ),
  ]);
  const assessmentOf = new Map(assessments.map((assessment) => [assessment.id, assessment]));
  const tagsById = grouped(tags, vulnerabilityOf, vulnerabilityTagOf);
  const assetsById = grouped(assets, vulnerabilityOf, ({ uid }) => uid);
  const commentsById = new Map(comments.map(({ vulnerability_id, count }) => [vulnerability_id, count]));
  const sightingsById = new Map(sightings.map((seen) => [seen.vulnerability_id, seen]));
  return rows.map((row) => ({
    id: row.id,
    version: row.version,
    organizationId: row.organization_id,
    // It is there as long as it has vulnerabilities.
    assessment: assessmentOf.get(row.assessment_id) as NamedAssessment,
    title: row.title,
    description: row.description,
    severity: row.severity,
    statusId: row.status_id,
    statusSetAt: row.status_set_at,
    closedAt: row.closed_at,
    cvssScore: row.cvss_score,
    cvssVector: row.cvss_vector,
    cvssFinal: row.cvss_score ?? FEET[severityRank(row.severity)] ?? 0,
    category: { parent: row.category_parent, display: row.category_display },
    impact: row.impact,
    recommendedFix: row.recommended_fix,
    cveIds: listOf(row.cve_ids),
    cweIds: listOf(row.cwe_ids),
    exploitableLocations: listOf(row.exploitable_locations),
    locationCount: row.location_count,
    validationSteps: listOf(row.validation_steps),
    httpRequests: listOf(row.http_requests),
    referenceUrls: listOf(row.reference_urls),
    assetUids: assetsById.get(row.id) ?? [],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    createdBy: userOf(row.created_by),
    assignee: userOf(row.assignee_id),
    dueOn: row.due_on,
    source: row.source,
    firstSeenAt: sightingsById.get(row.id)?.first_seen_at ?? row.first_seen_at,
    // What no scanner saw since was seen once.
    lastSeenAt: sightingsById.get(row.id)?.last_seen_at ?? row.first_seen_at,
    importId: row.import_id,
    lastImportId: sightingsById.get(row.id)?.last_import_id ?? row.import_id,
    goneAt: sightingsById.get(row.id)?.gone_at ?? null,
    goneImportId: sightingsById.get(row.id)?.gone_import_id ?? null,
    commentCount: commentsById.get(row.id) ?? 0,
    tags: tagsById.get(row.id) ?? [],
    attachments: attachments.get(row.id) ?? [],
  }));
}

const vulnerabilityOf = (row: { vulnerability_id: number }): number => row.vulnerability_id;

/** Where the band of a severity begins, from Informational on. */
const FEET = [0, 0.1, 4, 7, 9];

const NOTHING: readonly never[] = [];

function listOf(text: string): readonly never[] {
  // It is a list of what the column is of.
  return text === '[]' ? NOTHING : (JSON.parse(text) as never[]);
}

const byId = perReach((reach) =>
  prepare<ReachParameters & { id: number }, WholeRow>((db, p) =>
    db
      .selectFrom('vulnerabilities')
      .select(WHOLE_COLUMNS)
      .where('vulnerabilities.id', '=', p.id)
      .where(
        sql<SqlBool>`exists (select 1 from assessments
          where assessments.id = vulnerabilities.assessment_id and ${listingWithin(reach, p)})`,
      ),
  ),
);

/**
 * Reads one vulnerability (operation 16).
 * @throws Failure `missing` for one of an assessment that the caller has no access to
 */
export async function readVulnerability(db: Reader, caller: Caller, id: number): Promise<WholeVulnerability> {
  const [row] = await byId(reachOfAccount(caller))(db, { ...reachParameters(caller), id });
  if (row === undefined) throw missing('vulnerability');
  const [whole] = await completeVulnerabilities(db, caller, [row], { withAttachments: true });
  return whole as WholeVulnerability;
}
