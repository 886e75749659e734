import { type CounterDelta, DRAFT, statusBucket } from '../shared/counters.ts';
import { isClosed, severityRank } from '../shared/statuses-and-severities.ts';

export interface CountedFields {
  organizationId: number;
  assessmentId: number;
  statusId: number;
  severity: string;
  /** 1 for a draft, which has counters of its own. */
  draft: number;
  /** Ids. */
  tags: readonly number[];
  /** Ids. */
  assets: readonly number[];
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
  const { organizationId, assessmentId, statusId, severity, draft, tags } = counted;
  const bucket = statusBucket({ statusId, rank: severityRank(severity), isDraft: draft === 1 });
  return [
    { kind: 'organization', subject: organizationId, bucket, amount },
    { kind: 'assessment', subject: assessmentId, bucket, amount },
    ...tags.map((subject) => tagCounterDelta(subject, draft, amount)),
    ...assetDeltas(counted, amount),
  ];
}
