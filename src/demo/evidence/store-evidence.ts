import type { StoredBlob } from '../../domain/shared/files.ts';
import type { NewAttachment } from '../../domain/vulnerabilities/attachments.ts';
import { seededRandom } from '../random.ts';
import { createAssetInputs, scannedHosts } from '../load-assets.ts';
import { organizationData } from '../organizations.ts';
import { createDemoFindings } from '../demo-findings.ts';
import { createEvidence, retestReport, type EvidenceFile } from './evidence-files.ts';

/** Attachments of findings, by `evidenceKey`. */
export interface StoredEvidence {
  reported: ReadonlyMap<string, readonly NewAttachment[]>;
  /** Attached when the fix is verified. */
  verified: ReadonlyMap<string, readonly NewAttachment[]>;
}

/** One finding in this many has a retest report. */
const RETEST_REPORT_INTERVAL = 8;

/**
 * Creates and stores the attachments, before the transaction that refers to them.
 * @param store stores the content of a file
 */
export async function storeEvidence(
  store: (content: Buffer) => Promise<StoredBlob>,
): Promise<StoredEvidence> {
  const [reported, verified] = [new Map<string, NewAttachment[]>(), new Map<string, NewAttachment[]>()];
  const add = async (map: Map<string, NewAttachment[]>, key: string, files: readonly EvidenceFile[]) => {
    if (files.length === 0) return;
    const stored = files.map(async ({ filename, contentType, content }) => ({
      filename,
      contentType,
      content: await store(content),
    }));
    map.set(key, await Promise.all(stored));
  };
  const pending: Promise<void>[] = [];
  for (const spec of organizationData().organizations) {
    const random = seededRandom(spec.seed);
    const hosts = scannedHosts(createAssetInputs(spec, random));
    for (const { assessment, findings } of createDemoFindings(spec, hosts)) {
      for (const [index, finding] of findings.entries()) {
        const key = evidenceKey(assessment, index);
        pending.push(add(reported, key, createEvidence(finding, random)));
        if (index % RETEST_REPORT_INTERVAL === 5) pending.push(add(verified, key, [retestReport()]));
      }
    }
  }
  await Promise.all(pending);
  return { reported, verified };
}

export function evidenceKey(assessment: string, index: number): string {
  return `${assessment}/${index}`;
}
