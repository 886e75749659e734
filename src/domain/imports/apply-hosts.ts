import type { Transaction } from '../../db/engine.ts';
import { addNewAssetsToListing } from '../assessments/update-listing.ts';
import type { ScannedHost } from '../assets/scans/apply-scans.ts';
import { upsertScannedHosts } from '../assets/scans/upsert-hosts.ts';
import type { PortCoverage } from '../assets/scans/diff-ports.ts';
import { permittedAssets } from './asset-permissions.ts';
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
  const applied = await upsertScannedHosts(tx, by, job.organizationId, coverage, hosts, {
    importId: job.id,
    findWritable: async (known) => (await permittedAssets(tx, job, known)).writable,
  });
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
