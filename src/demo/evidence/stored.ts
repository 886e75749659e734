import type { StoredContent } from '../../domain/shared/files.ts';
import type { NewAttachment } from '../../domain/vulnerabilities/attachments.ts';
import { chanceOf } from '../chance.ts';
import { assetsOf, scannedHosts } from '../load-assets.ts';
import { PROGRAMMES } from '../programmes.ts';
import { sightingsOf } from '../sightings.ts';
import { evidenceOf, retestReport, type EvidenceFile } from './files.ts';

/** What is attached to the findings, by assessment and place in it. */
export interface Evidence {
  reported: ReadonlyMap<string, readonly NewAttachment[]>;
  /** Of those whose fix was verified. */
  verified: ReadonlyMap<string, readonly NewAttachment[]>;
}

/** Every so many findings have a report of their retest. */
const REPORTED = 8;

/**
 * Makes the files of the demo and stores them, before the unit of work that refers to them.
 * @param store keeps a content
 */
export async function storeEvidence(store: (content: Buffer) => Promise<StoredContent>): Promise<Evidence> {
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
  for (const programme of PROGRAMMES) {
    const chance = chanceOf(programme.seed);
    const hosts = scannedHosts(assetsOf(programme, chance));
    for (const { assessment, sightings } of sightingsOf(programme, hosts)) {
      for (const [index, sighting] of sightings.entries()) {
        const key = evidenceKey(assessment, index);
        waiting.push(keep(reported, key, evidenceOf(sighting, chance)));
        if (index % REPORTED === 5) waiting.push(keep(verified, key, [retestReport(sighting)]));
      }
    }
  }
  await Promise.all(waiting);
  return { reported, verified };
}

export function evidenceKey(assessment: string, index: number): string {
  return `${assessment}/${index}`;
}
