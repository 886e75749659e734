import { prepareInsertSharing } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/database.ts';
import { portSetKey, storePortSets } from '../assets/port-sets.ts';
import { groupBy } from '../shared/group-by.ts';
import type { Detection } from './detection.ts';
import type { FindingContent } from './finding-facts.ts';
import type { FindingsJob } from './import-types.ts';

/** A detection to store. */
export interface NewDetection {
  /** Of the finding. */
  id: number;
  detection: Detection;
  /** The number of its content. */
  content: number;
  isMade: boolean;
  carriedStatusId: number | null;
}

const VARYING = { vulnerability_id: 'int', seen_at: 'int', first_seen_at: 'int', content: 'int' } as const;
const COMMON = { import_id: 'int', is_made: 'int', is_timed: 'int', carried_status_id: 'int' } as const;
const insertAlike = prepareInsertSharing('detections', COMMON, VARYING);
/** A third slower on PostgreSQL. */
const insertMissing = prepareInsertSharing('detections', COMMON, VARYING, 'on conflict do nothing');

/**
 * Stores that an import saw findings; the only write for one that has not changed.
 * @param mayExist whether an interrupted run of the import may have stored some of them
 */
export async function insertDetections(
  tx: Transaction,
  job: FindingsJob,
  detections: readonly NewDetection[],
  mayExist = false,
): Promise<void> {
  const insert = mayExist ? insertMissing : insertAlike;
  const flagsOf = ({ detection: { isTimeKnown }, isMade, carriedStatusId }: NewDetection) =>
    [isMade ? 1 : 0, isTimeKnown ? 1 : 0, carriedStatusId] as const;
  const groups = groupBy(
    detections,
    (one) => flagsOf(one).join(' '),
    (one) => one,
  );
  for (const group of groups.values())
    await insert(
      tx,
      [job.id, ...flagsOf(group[0] as NewDetection)],
      group.map(({ id, detection: { seenAt, firstSeenAt }, content }) => [id, seenAt, firstSeenAt, content]),
    );
}

/** @returns the content of a detection, without its columns */
export function contentOf({ contentHash, coverage, tags }: Detection, number: number): FindingContent {
  return {
    number,
    content_hash: contentHash,
    cover_key: coverage?.key ?? null,
    cover_host: coverage?.host ?? null,
    cover_ports: portSetKey(coverage?.ports ?? ''),
    tags: tags.length === 0 ? null : JSON.stringify(tags),
  };
}

/** Stores the port lists that contents refer to. */
export function storePortsOf(
  tx: Transaction,
  { organizationId }: FindingsJob,
  detections: readonly Detection[],
): Promise<void> {
  return storePortSets(
    tx,
    organizationId,
    detections.map(({ coverage }) => coverage?.ports ?? ''),
  );
}
