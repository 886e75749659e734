import { administers } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { listNewAssets } from '../assessments/update-listing.ts';
import type { ScannedHost, ScanOrigin } from '../assets/scans/apply-scans.ts';
import { putHostScans } from '../assets/scans/upsert-hosts.ts';
import type { PortCoverage } from '../assets/scans/diff-ports.ts';
import type { ImportJob } from './import-types.ts';

/** What a unit of work did to hosts. */
export interface HostsDone {
  /** Addresses of the assets that were made. */
  created: string[];
  updated: number;
  portsOpened: number;
  portsClosed: number;
  /** Hosts that the caller may not change. */
  refused: number;
}

/** @returns whether only what the assessment lists may be changed */
export function isConfined({ caller, organizationId, assessment }: ImportJob): boolean {
  return assessment !== null && !administers(caller, organizationId);
}

/**
 * Brings the hosts of an organization up to what a report says of them; those that it makes are listed by the assessment.
 * Hosts that whoever imports may not change are left alone.
 * @param hosts each address once
 * @param now milliseconds since 1970
 */
export async function putReportedHosts(
  tx: Transaction,
  job: ImportJob,
  coverage: PortCoverage,
  hosts: readonly ScannedHost[],
  now: number,
): Promise<HostsDone> {
  const act = { actor: job.caller, now };
  const origin: ScanOrigin = {
    importId: job.id,
    ...(isConfined(job) && job.assessment !== null ? { listedBy: job.assessment.id } : {}),
  };
  const done = await putHostScans(tx, act, job.organizationId, coverage, hosts, origin);
  if (job.assessment !== null && done.made.length > 0)
    await listNewAssets(tx, act, job.assessment.uid, done.made);
  return {
    created: done.made.map(({ address }) => address),
    updated: done.updated,
    portsOpened: done.openedPorts,
    portsClosed: done.closedPorts,
    refused: done.refused,
  };
}
