import { sql } from 'kysely';
import type { Caller, ChangeContext, Principal } from '../../auth/callers.ts';
import { chunked } from '../../db/chunks.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Row } from '../../db/schema.ts';
import type { DraftPolicy } from '../assessments/assessments.ts';
import { recordEvents } from '../audit/record-event.ts';
import { DeltaAccumulator, insertDeltas } from '../shared/counters.ts';
import { DomainError } from '../shared/errors.ts';
import { groupBy } from '../shared/group-by.ts';
import { countedFieldsOf, counterDeltas } from './counter-deltas.ts';
import { loadLinkedIds } from './insert-vulnerabilities.ts';
import type { AssetRef } from './resolve-references.ts';
import { recordTimelineForEach } from './timeline.ts';
import { auditSnapshot, VULNERABILITY_COLUMNS, type VulnerabilityRow } from './vulnerability-row.ts';

// A draft is a vulnerability that staff review before the customer can see it; only staff see drafts (docs/roles.md).
// Timeline entries and audit events of its changes are internal, and remain internal after it is published.

/**
 * Requires staff for a request that sets or filters by `draft`, whatever the value.
 * @throws DomainError `forbidden`
 */
export function requireDraftRight(caller: Pick<Principal, 'staff'>, value: boolean | undefined): void {
  if (value !== undefined && !caller.staff) throw new DomainError('draft-staff-only');
}

/**
 * Decides whether a new vulnerability of an assessment is a draft.
 * @param policy the `drafts` setting of the assessment
 * @param requested the value of `draft` in the request
 * @throws DomainError `forbidden` if `draft` is present and the caller is not staff, or if it is false and the assessment
 *   requires a second person to publish
 */
export function beginsAsDraft(
  caller: Pick<Principal, 'staff'>,
  policy: DraftPolicy,
  requested: boolean | undefined,
): boolean {
  requireDraftRight(caller, requested);
  if (requested === false && policy === 'second_person') throw new DomainError('draft-second-person');
  return requested ?? (caller.staff && policy !== 'off');
}

/** Rows per statement: each gets an audit event with its state. */
const CHUNK_ROWS = 100;

/**
 * Requires that the caller may publish vulnerabilities. With the policy `second_person`, the reporter of a draft cannot
 * publish it.
 * @throws DomainError `forbidden`
 */
export async function requirePublisher(
  db: ReadConnection,
  { userId }: Pick<Caller, 'userId'>,
  ids: readonly number[],
): Promise<void> {
  for (const chunk of chunked(ids, CHUNK_ROWS)) {
    const own = await db
      .selectFrom('vulnerabilities')
      .innerJoin('assessments', 'assessments.id', 'vulnerabilities.assessment_id')
      .select('vulnerabilities.id')
      .where((eb) => inList(db, eb.ref('vulnerabilities.id'), chunk))
      .where('assessments.drafts', '=', 'second_person')
      // A caller without an account cannot be told apart from the reporter.
      .where((eb) => (userId === null ? eb.lit(true) : eb('vulnerabilities.created_by', '=', userId)))
      .limit(1)
      .executeTakeFirst();
    if (own !== undefined) throw new DomainError('draft-second-person');
  }
}

/**
 * Publishes drafts. They count as reported now, and the audit log records their creation.
 * @param ids of locked drafts, ascending
 * @throws DomainError as `requirePublisher`
 */
export async function publishDrafts(
  tx: Transaction,
  by: ChangeContext<Caller>,
  ids: readonly number[],
): Promise<void> {
  const { actor, now } = by;
  await requirePublisher(tx, actor, ids);
  const sums = new DeltaAccumulator();
  for (const chunk of chunked(ids, CHUNK_ROWS)) {
    const drafts = await loadDrafts(tx, chunk);
    await tx
      .updateTable('vulnerabilities')
      .set((eb) => ({
        draft: 0,
        created_at: now,
        first_seen_at: sql<number>`case when source = 'manual' then ${now} else first_seen_at end`,
        published_by: actor.userId,
        updated_at: now,
        version: eb('version', '+', eb.lit(1)),
      }))
      .where((eb) => inList(tx, eb.ref('id'), chunk))
      .execute();
    for (const draft of drafts) sums.add(countersOfPublication(draft, now));
    await recordPublications(tx, by, drafts);
  }
  await insertDeltas(tx, sums.rows());
}

interface Draft {
  row: VulnerabilityRow;
  retestStatus: Row<'vulnerabilities'>['retest_status'];
  assessment: string;
  /** Ids. */
  tags: readonly number[];
  assets: readonly AssetRef[];
}

async function loadDrafts(db: ReadConnection, ids: readonly number[]): Promise<Draft[]> {
  const rows = await db
    .selectFrom('vulnerabilities')
    .innerJoin('assessments', 'assessments.id', 'vulnerabilities.assessment_id')
    .select(VULNERABILITY_COLUMNS)
    .select(['assessments.uid as assessment', 'vulnerabilities.retest_status'])
    .where((eb) => inList(db, eb.ref('vulnerabilities.id'), ids))
    .orderBy('vulnerabilities.id')
    .execute();
  const assets = await db
    .selectFrom('vulnerability_assets as link')
    .innerJoin('assets', 'assets.id', 'link.asset_id')
    .select(['link.vulnerability_id', 'assets.id', 'assets.uid'])
    .where((eb) => inList(db, eb.ref('link.vulnerability_id'), ids))
    .orderBy('assets.id')
    .execute();
  const assetsOf = groupBy(
    assets,
    (asset) => asset.vulnerability_id,
    ({ id, uid }) => ({ id, uid }),
  );
  const tagsOf = await loadLinkedIds(db, 'tags', ids);
  return rows.map(({ assessment, retest_status: retestStatus, ...row }) => ({
    row,
    retestStatus,
    assessment,
    tags: tagsOf.get(row.id) ?? [],
    assets: assetsOf.get(row.id) ?? [],
  }));
}

function countersOfPublication({ row, retestStatus, tags, assets }: Draft, now: number) {
  const draft = countedFieldsOf(
    { ...row, retest_status: retestStatus },
    { tags, assets: assets.map(({ id }) => id) },
  );
  return counterDeltas(draft, { ...draft, draft: 0, reportedAt: now });
}

/** Records the creation of vulnerabilities for everyone, and their publication for staff. */
async function recordPublications(
  tx: Transaction,
  by: ChangeContext,
  drafts: readonly Draft[],
): Promise<void> {
  await recordEvents(
    tx,
    drafts.map(({ row, assessment, tags, assets }) => ({
      by,
      change: {
        action: 'vulnerability.create' as const,
        object: ['vulnerability', row.id] as const,
        organizationId: row.organization_id,
        before: null,
        after: auditSnapshot(
          { ...row, draft: 0 },
          { assessment, tags, assets: assets.map(({ uid }) => uid) },
        ),
      },
    })),
  );
  const idsByOrganization = groupBy(
    drafts,
    ({ row }) => row.organization_id,
    ({ row }) => row.id,
  );
  for (const [organizationId, ids] of idsByOrganization)
    await recordTimelineForEach(tx, by, { organizationId, ...PUBLICATION_ENTRY }, ids);
}

/** The timeline entry of a publication. */
export const PUBLICATION_ENTRY = {
  kind: 'edited',
  before: { draft: true },
  after: { draft: false },
  internal: true,
} as const;
