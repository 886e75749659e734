import type { Row } from '../../db/schema.ts';
import { type CounterDelta, DRAFT } from '../shared/counters.ts';
import { isClosed, severityRank } from '../shared/statuses-and-severities.ts';
import { deltaBucket } from '../shared/vulnerability-buckets.ts';

type CountedRow = Pick<
  Row<'vulnerabilities'>,
  | 'organization_id'
  | 'assessment_id'
  | 'status_id'
  | 'severity'
  | 'draft'
  | 'source'
  | 'created_at'
  | 'closed_at'
  | 'retest_status'
>;

export interface CountedFields {
  organizationId: number;
  assessmentId: number;
  statusId: number;
  severity: string;
  /** 1 for a draft, which has counters of its own. */
  draft: number;
  source: string;
  /** Milliseconds since 1970. */
  reportedAt: number;
  /** `null` for an open one. */
  closedAt: number | null;
  retestStatus: string | null;
  /** Ids. */
  tags: readonly number[];
  /** Ids. */
  assets: readonly number[];
}

export function countedFieldsOf(
  row: CountedRow,
  { tags, assets }: Pick<CountedFields, 'tags' | 'assets'>,
): CountedFields {
  return {
    organizationId: row.organization_id,
    assessmentId: row.assessment_id,
    statusId: row.status_id,
    severity: row.severity,
    draft: row.draft,
    source: row.source,
    reportedAt: row.created_at,
    closedAt: row.closed_at,
    retestStatus: row.retest_status,
    tags,
    assets,
  };
}

/**
 * @param before `null` for a new vulnerability
 * @param after `null` for a deleted one
 * @returns the deltas of every counter that the change affects, for `addDeltas`
 */
export function counterDeltas(before: CountedFields | null, after: CountedFields | null): CounterDelta[] {
  return [...(before === null ? [] : deltasOf(before, -1)), ...(after === null ? [] : deltasOf(after, 1))];
}

type AssetCounts = Pick<CountedFields, 'statusId' | 'draft' | 'assets'>;

/** @returns the deltas of asset counters when a vulnerability changes from one status to another */
export function assetCounterDeltas(before: AssetCounts, after: AssetCounts): CounterDelta[] {
  return [...assetDeltas(before, -1), ...assetDeltas(after, 1)];
}

function assetDeltas({ statusId, draft, assets }: AssetCounts, amount: number): CounterDelta[] {
  const bucket = draft === 1 ? DRAFT : isClosed(statusId) ? 'closed' : 'open';
  return assets.map((subject) => ({ kind: 'asset', subject, bucket, amount }));
}

/** @returns the delta of a tag's counter */
export function tagCounterDelta(subject: number, draft: number, amount: number): CounterDelta {
  return { kind: 'vulnerability-tag', subject, bucket: draft === 1 ? DRAFT : 'all', amount };
}

function deltasOf(counted: CountedFields, amount: number): CounterDelta[] {
  const { organizationId, assessmentId, statusId, severity, draft, tags, source } = counted;
  const bucket = deltaBucket({
    statusId,
    rank: severityRank(severity),
    isDraft: draft === 1,
    reportedAt: counted.reportedAt,
    closedAt: counted.closedAt,
    isRetestRequested: counted.retestStatus === 'requested',
    source,
  });
  return [
    { kind: 'organization', subject: organizationId, bucket, amount },
    { kind: 'assessment', subject: assessmentId, bucket, amount },
    ...tags.map((subject) => tagCounterDelta(subject, draft, amount)),
    ...assetDeltas(counted, amount),
  ];
}
