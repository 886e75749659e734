import type { CounterDelta } from '../shared/counters.ts';
import { isClosed, severityRank } from '../shared/statuses-and-severities.ts';

export interface CountedFields {
  organizationId: number;
  assessmentId: number;
  statusId: number;
  severity: string;
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

/** @returns the deltas of asset counters when a vulnerability changes from one status to another */
export function assetCounterDeltas(assets: readonly number[], before: number, after: number): CounterDelta[] {
  return [...assetDeltas(assets, before, -1), ...assetDeltas(assets, after, 1)];
}

function assetDeltas(assets: readonly number[], statusId: number, amount: number): CounterDelta[] {
  const bucket = isClosed(statusId) ? 'closed' : 'open';
  return assets.map((subject) => ({ kind: 'asset', subject, bucket, amount }));
}

function deltasOf(counted: CountedFields, amount: number): CounterDelta[] {
  const { organizationId, assessmentId, statusId, severity, tags, assets } = counted;
  const bucket = `${statusId}:${severityRank(severity)}`;
  return [
    { kind: 'organization', subject: organizationId, bucket, amount },
    { kind: 'assessment', subject: assessmentId, bucket, amount },
    ...tags.map((subject) => ({ kind: 'vulnerability-tag' as const, subject, bucket: 'all', amount })),
    ...assetDeltas(assets, statusId, amount),
  ];
}
