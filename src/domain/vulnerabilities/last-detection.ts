import { sql } from 'kysely';

/** The last detection of a finding that counts (docs/decided.md, section 13). */
export interface LastDetection {
  /** Milliseconds since 1970. */
  seenAt: number;
  importId: number;
  /** Whether the time is reliable. */
  isTimed: boolean;
}

/** The last detection of a row of `scanner_findings` as `finding`: one value, as a driver spends its time on values. */
export const lastDetection = sql<
  string | null
>`(select seen_at || ' ' || import_id || ' ' || is_timed from detections
  where detections.vulnerability_id = finding.vulnerability_id
  order by is_timed desc, seen_at desc, import_id desc limit 1)`;

/** @param text a value of `lastDetection` */
export function parseLastDetection(text: string | null): LastDetection | undefined {
  if (text === null) return undefined;
  const [seenAt, importId, isTimed] = text.split(' ');
  return { seenAt: Number(seenAt), importId: Number(importId), isTimed: isTimed === '1' };
}
