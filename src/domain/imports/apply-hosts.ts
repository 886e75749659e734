import { isAdminOf } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { addNewAssetsToListing } from '../assessments/update-listing.ts';
import type { ScannedHost, ScanSource } from '../assets/scans/apply-scans.ts';
import { upsertScannedHosts } from '../assets/scans/upsert-hosts.ts';
import type { PortCoverage } from '../assets/scans/diff-ports.ts';
import type { ImportJob } from './import-types.ts';

/** What a unit of work did to hosts. */
export interface AppliedHosts {
  /** Addresses of the assets that were made. */
  created: string[];
  updated: number;
  portsOpened: number;
  portsClosed: number;
  /** Hosts that the caller may not change. */
  denied: number;
}

/** @returns whether only what the assessment lists may be changed */
export function isLimitedToListedAssets({ caller, organizationId, assessment }: ImportJob): boolean {
  return assessment !== null && !isAdminOf(caller, organizationId);
}

/**
 * Brings the hosts of an organization up to what a report says of them; those that it makes are listed by the assessment.
 * Hosts that whoever imports may not change are left alone.
 * @param hosts each address once
 * @param now milliseconds since 1970
 */
export async function applyReportedHosts(
  tx: Transaction,
  job: ImportJob,
  coverage: PortCoverage,
  hosts: readonly ScannedHost[],
  now: number,
): Promise<AppliedHosts> {
  const act = { actor: job.caller, now };
  const origin: ScanSource = {
    importId: job.id,
    ...(isLimitedToListedAssets(job) && job.assessment !== null
      ? { limitedToAssessment: job.assessment.id }
      : {}),
  };
  const done = await upsertScannedHosts(tx, act, job.organizationId, coverage, hosts, origin);
  if (job.assessment !== null && done.createdHosts.length > 0)
    await addNewAssetsToListing(tx, act, job.assessment.uid, done.createdHosts);
  return {
    created: done.createdHosts.map(({ address }) => address),
    updated: done.updated,
    portsOpened: done.openedPorts,
    portsClosed: done.closedPorts,
    denied: done.skipped,
  };
}
