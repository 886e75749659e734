import { type SqlBool, sql } from 'kysely';
import type { Act, Caller } from '../../auth/callers.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { holdingRows } from '../../db/portable.ts';
import { prepare, prepareUnread, prepareWrite } from '../../db/prepared.ts';
import { missing } from '../shared/failure.ts';
import {
  listingWithin,
  perReach,
  reachOfAccount,
  type ReachParameters,
  reachParameters,
} from '../shared/reach.ts';
import { addTallies } from '../shared/tallies.ts';
import { closedAt, STATUS_NAMES } from './catalogue.ts';
import { recordTimeline } from './timeline.ts';
import { tallyDifferences } from './vulnerability-tallies.ts';

/** What everything that is done with one vulnerability needs of it. */
export interface ReachedVulnerability {
  id: number;
  organization_id: number;
  assessment_id: number;
  assessment_uid: string;
  version: number;
  title: string;
  severity: string;
  status_id: number;
  source: string;
  created_by: number | null;
  assignee_id: number | null;
  retest_status: string | null;
  status_before_retest: number | null;
}

type ById = ReachParameters & { id: number };

const within = (reach: Parameters<typeof listingWithin>[0], p: ById) =>
  sql<SqlBool>`exists (select 1 from assessments
    where assessments.id = vulnerabilities.assessment_id and ${listingWithin(reach, p)})`;

const COLUMNS = [
  'id',
  'organization_id',
  'assessment_id',
  'version',
  'title',
  'severity',
  'status_id',
  'source',
  'created_by',
  'assignee_id',
  'retest_status',
  'status_before_retest',
] as const;

const uidOfAssessment = sql<string>`(select assessments.uid from assessments
  where assessments.id = vulnerabilities.assessment_id)`.as('assessment_uid');

const find = perReach((reach) =>
  prepare<ById, ReachedVulnerability>((db, p) =>
    db
      .selectFrom('vulnerabilities')
      .select(COLUMNS)
      .select(uidOfAssessment)
      .where('id', '=', p.id)
      .where(within(reach, p)),
  ),
);

const hold = perReach((reach) =>
  prepareWrite<ById, ReachedVulnerability>((tx, p) =>
    tx
      .selectFrom('vulnerabilities')
      .select(COLUMNS)
      .select(uidOfAssessment)
      .where('id', '=', p.id)
      .where(within(reach, p))
      .modifyEnd(holdingRows(tx)),
  ),
);

/** @throws Failure `missing` for a vulnerability of an assessment that the caller has no access to */
export async function findVulnerability(
  db: Reader,
  caller: Caller,
  id: number,
): Promise<ReachedVulnerability> {
  const [row] = await find(reachOfAccount(caller))(db, { ...reachParameters(caller), id });
  if (row === undefined) throw missing('vulnerability');
  return row;
}

/**
 * The same, and keeps other changes of it out until the unit of work ends.
 * @throws Failure `missing` for a vulnerability of an assessment that the caller has no access to
 */
export async function holdVulnerability(
  tx: Transaction,
  caller: Caller,
  id: number,
): Promise<ReachedVulnerability> {
  const [row] = await hold(reachOfAccount(caller))(tx, { ...reachParameters(caller), id });
  if (row === undefined) throw missing('vulnerability');
  return row;
}

/** Says that something of a vulnerability changed that is not its own member, which its version does not count. */
export const touchVulnerability = prepareUnread<{ id: number; now: number }>((tx, p) =>
  tx.updateTable('vulnerabilities').set({ updated_at: p.now }).where('id', '=', p.id),
);

const setStatus = prepareUnread<{ id: number; status: number; now: number; closed: number | null }>((tx, p) =>
  tx
    .updateTable('vulnerabilities')
    .set((eb) => ({
      status_id: p.status,
      status_set_at: p.now,
      closed_at: p.closed,
      updated_at: p.now,
      version: eb('version', '+', eb.lit(1)),
    }))
    .where('id', '=', p.id),
);

const assetsOf = prepare<{ id: number }, { asset_id: number }>((db, p) =>
  db.selectFrom('vulnerability_assets').select('asset_id').where('vulnerability_id', '=', p.id),
);

/**
 * Moves a vulnerability that is held to another status, with its counts and its timeline; the audit event is the caller's
 * to write. Where it has the status already, nothing happens.
 */
export async function moveStatus(
  tx: Transaction,
  act: Act,
  row: Pick<ReachedVulnerability, 'id' | 'organization_id' | 'assessment_id' | 'severity' | 'status_id'>,
  statusId: number,
): Promise<void> {
  if (statusId === row.status_id) return;
  const { id, organization_id: organizationId, assessment_id: assessmentId, severity } = row;
  const assets = (await assetsOf(tx, { id })).map(({ asset_id }) => asset_id);
  await setStatus(tx, { id, status: statusId, now: act.now, closed: closedAt(statusId, act.now) });
  const counted = (status: number) => ({
    organizationId,
    assessmentId,
    statusId: status,
    severity,
    tags: [],
    assets,
  });
  await addTallies(tx, tallyDifferences(counted(row.status_id), counted(statusId)));
  await recordTimeline(tx, act, {
    organizationId,
    vulnerabilityId: id,
    kind: 'status',
    before: statusTold(row.status_id),
    after: statusTold(statusId),
  });
}

/** What a timeline tells of a status. */
export function statusTold(statusId: number): object {
  return { status_id: statusId, status: STATUS_NAMES.get(statusId) };
}
