import type { Transaction } from '../../db/database.ts';
import { addNewAssetsToListing } from '../assessments/update-listing.ts';
import type { ScannedHost, TimedRecord } from '../assets/scans/apply-scans.ts';
import { upsertScannedHosts } from '../assets/scans/upsert-hosts.ts';
import { recordAssetDetections } from './asset-detections.ts';
import { permittedAssets } from './import-permissions.ts';
import type { ImportJob } from './import-types.ts';

/** The result of one transaction. */
export interface AppliedHosts {
  /** Addresses of the created assets. */
  created: string[];
  /** Addresses of known hosts with changed ports. */
  updated: string[];
  portsOpened: number;
  portsClosed: number;
  /** Addresses of hosts that the importer may not change. */
  denied: string[];
  /** Records to apply in the next transaction. */
  deferred: TimedRecord[];
}

/**
 * Creates or updates the assets of reported hosts, and lists created ones in the assessment. Skips hosts that the
 * importer may not change.
 * @param hosts may have several records of a host, in any order
 * @param now milliseconds since 1970
 */
export async function applyReportedHosts(
  tx: Transaction,
  job: ImportJob,
  hosts: readonly ScannedHost[],
  now: number,
): Promise<AppliedHosts> {
  const by = { actor: job.caller, now };
  const applied = await upsertScannedHosts(tx, by, job.organizationId, hosts, {
    importId: job.id,
    findWritable: async (known) => (await permittedAssets(tx, job, known)).writable,
  });
  await recordAssetDetections(
    tx,
    job,
    applied.seen.map(({ id, first, last }) => ({ id, firstSeenAt: first, seenAt: last })),
  );
  if (job.assessment !== null && applied.createdHosts.length > 0)
    await addNewAssetsToListing(tx, by, job.assessment.uid, applied.createdHosts);
  return {
    created: applied.createdHosts.map(({ address }) => address),
    updated: applied.updated,
    portsOpened: applied.openedPorts,
    portsClosed: applied.closedPorts,
    denied: applied.skipped,
    deferred: applied.deferred,
  };
}
