import { isAdminOf } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { addNewAssetsToListing } from '../assessments/update-listing.ts';
import type { ScannedHost, ScanSource } from '../assets/scans/apply-scans.ts';
import { upsertScannedHosts } from '../assets/scans/upsert-hosts.ts';
import type { PortCoverage } from '../assets/scans/diff-ports.ts';
import type { ImportJob } from './import-types.ts';

/** The result of one transaction. */
export interface AppliedHosts {
  /** Addresses of the created assets. */
  created: string[];
  updated: number;
  portsOpened: number;
  portsClosed: number;
  /** Hosts that the importer may not change. */
  denied: number;
}

/** @returns whether the importer may change only assets that the assessment lists */
export function isLimitedToListedAssets({ caller, organizationId, assessment }: ImportJob): boolean {
  return assessment !== null && !isAdminOf(caller, organizationId);
}

/**
 * Creates or updates the assets of reported hosts, and lists created ones in the assessment. Skips hosts that the
 * importer may not change.
 * @param hosts one per address
 * @param now milliseconds since 1970
 */
export async function applyReportedHosts(
  tx: Transaction,
  job: ImportJob,
  coverage: PortCoverage,
  hosts: readonly ScannedHost[],
  now: number,
): Promise<AppliedHosts> {
  const by = { actor: job.caller, now };
  const origin: ScanSource = {
    importId: job.id,
    ...(isLimitedToListedAssets(job) && job.assessment !== null
      ? { limitedToAssessment: job.assessment.id }
      : {}),
  };
  const applied = await upsertScannedHosts(tx, by, job.organizationId, coverage, hosts, origin);
  if (job.assessment !== null && applied.createdHosts.length > 0)
    await addNewAssetsToListing(tx, by, job.assessment.uid, applied.createdHosts);
  return {
    created: applied.createdHosts.map(({ address }) => address),
    updated: applied.updated,
    portsOpened: applied.openedPorts,
    portsClosed: applied.closedPorts,
    denied: applied.skipped,
  };
}
