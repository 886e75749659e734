import type { StoredContent } from '../../domain/shared/files.ts';
import type { NewAttachment } from '../../domain/vulnerabilities/attachments.ts';
import { seededRandom } from '../random.ts';
import { createAssetInputs, scannedHosts } from '../load-assets.ts';
import { DEMO_ORGANIZATIONS } from '../organizations.ts';
import { createDemoFindings } from '../demo-findings.ts';
import { createEvidence, retestReport, type EvidenceFile } from './evidence-files.ts';

/** What is attached to the findings, by assessment and place in it. */
export interface StoredEvidence {
  reported: ReadonlyMap<string, readonly NewAttachment[]>;
  /** Of those whose fix was verified. */
  verified: ReadonlyMap<string, readonly NewAttachment[]>;
}

/** Every so many findings have a report of their retest. */
const REPORTED_COUNT = 8;

/**
 * Makes the files of the demo and stores them, before the unit of work that refers to them.
 * @param store keeps a content
 */
export async function storeEvidence(
  store: (content: Buffer) => Promise<StoredContent>,
): Promise<StoredEvidence> {
  const [reported, verified] = [new Map<string, NewAttachment[]>(), new Map<string, NewAttachment[]>()];
  const keep = async (map: Map<string, NewAttachment[]>, key: string, files: readonly EvidenceFile[]) => {
    if (files.length === 0) return;
    const stored = files.map(async ({ filename, contentType, content }) => ({
      filename,
      contentType,
      content: await store(content),
    }));
    map.set(key, await Promise.all(stored));
  };
  const waiting: Promise<void>[] = [];
  for (const programme of DEMO_ORGANIZATIONS) {
    const chance = seededRandom(programme.seed);
    const hosts = scannedHosts(createAssetInputs(programme, chance));
    for (const { assessment, sightings } of createDemoFindings(programme, hosts)) {
      for (const [index, sighting] of sightings.entries()) {
        const key = evidenceKey(assessment, index);
        waiting.push(keep(reported, key, createEvidence(sighting, chance)));
        if (index % REPORTED_COUNT === 5) waiting.push(keep(verified, key, [retestReport(sighting)]));
      }
    }
  }
  await Promise.all(waiting);
  return { reported, verified };
}

export function evidenceKey(assessment: string, index: number): string {
  return `${assessment}/${index}`;
}
