import { prepareInsertSharing } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/database.ts';
import { portSetKey, storePortSets } from '../assets/port-sets.ts';
import { groupBy } from '../shared/group-by.ts';
import type { FindingContent } from './finding-facts.ts';
import type { FindingsJob } from './import-types.ts';
import type { Severity } from '../shared/statuses-and-severities.ts';
import type { VulnerabilityFieldColumns } from '../vulnerabilities/vulnerability-fields.ts';

/** The columns of a vulnerability that a scanner fills. */
export type ScannerColumns = Omit<VulnerabilityFieldColumns, 'validation_steps'>;

/** The type and location that identify an asset within its organization. */
export interface AssetLocation {
  type: 'host' | 'webapp';
  /** The location in canonical form. */
  location: string;
}

/**
 * A part of a target that a report can cover. A finding is gone if a complete report covers its key without containing
 * it.
 */
export interface ScanScopeKey {
  /**
   * `site:https://a.example/`, `host:192.0.2.1`, `artifact:app`. A finding of a group of checks has the group and a
   * bar in front: `secret|artifact:app`.
   */
  key: string;
  /** Host of a site. */
  host: string | null;
  /**
   * Ports on a host, as `formatPorts` writes them: those of the finding, or those that the report scanned. Empty for a
   * finding of the host itself, and for a scan of the whole host.
   */
  ports: string;
}

/** A finding in a report, merged from all its instances. */
export interface Detection {
  /** 22 characters, unique within the assessment. */
  identity: string;
  source: string;
  asset: AssetLocation | null;
  scanScope: ScanScopeKey | null;
  /** The times of the first and the last instance, in milliseconds since 1970. */
  firstSeenAt: number;
  seenAt: number;
  /** Hash of everything that the scanner reports, except for evidence, which differs in every scan. */
  contentHash: string;
  severity: Severity;
  /**
   * Whether `seenAt` is reliable. If not, a detection of the finding with a reliable time takes precedence, whichever
   * is later.
   */
  isTimeKnown: boolean;
  /** Names of the tags that it gets when it is created. */
  tags: readonly string[];
  /** Decodes the scanner's columns. Not called for a finding whose hash has not changed. */
  columns(): ScannerColumns;
}

interface NewDetection {
  id: number;
  detection: Detection;
  /** The number of its content. */
  content: number;
  createsVulnerability: boolean;
  carriedStatusId: number | null;
}

const VARYING = { vulnerability_id: 'int', seen_at: 'int', first_seen_at: 'int', content: 'int' } as const;
const COMMON = { import_id: 'int', is_made: 'int', is_timed: 'int', carried_status_id: 'int' } as const;
const insertAlike = prepareInsertSharing('detections', COMMON, VARYING);
/** A third slower on PostgreSQL. */
const insertMissing = prepareInsertSharing('detections', COMMON, VARYING, 'on conflict do nothing');

/**
 * Stores that an import detected findings. For an unchanged finding, this is the only write.
 * @param mayExist whether an interrupted run of the import may have stored some of them
 */
export async function insertDetections(
  tx: Transaction,
  job: FindingsJob,
  detections: readonly NewDetection[],
  mayExist = false,
): Promise<void> {
  const insert = mayExist ? insertMissing : insertAlike;
  const flagsOf = ({ detection: { isTimeKnown }, createsVulnerability, carriedStatusId }: NewDetection) =>
    [createsVulnerability ? 1 : 0, isTimeKnown ? 1 : 0, carriedStatusId] as const;
  const groups = groupBy(
    detections,
    (detection) => flagsOf(detection).join(' '),
    (detection) => detection,
  );
  for (const group of groups.values())
    await insert(
      tx,
      [job.id, ...flagsOf(group[0] as NewDetection)],
      group.map(({ id, detection: { seenAt, firstSeenAt }, content }) => [id, seenAt, firstSeenAt, content]),
    );
}

/** @returns the content of a detection, without its columns */
export function contentOf({ contentHash, scanScope, tags }: Detection, number: number): FindingContent {
  return {
    number,
    content_hash: contentHash,
    cover_key: scanScope?.key ?? null,
    cover_host: scanScope?.host ?? null,
    cover_ports: portSetKey(scanScope?.ports ?? ''),
    tags: tags.length === 0 ? null : JSON.stringify(tags),
  };
}

export function storePortsOf(
  tx: Transaction,
  { organizationId }: FindingsJob,
  detections: readonly Detection[],
): Promise<void> {
  return storePortSets(
    tx,
    organizationId,
    detections.map(({ scanScope }) => scanScope?.ports ?? ''),
  );
}
