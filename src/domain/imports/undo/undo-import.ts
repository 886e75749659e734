import type { Caller } from '../../../auth/callers.ts';
import type { Database, Transaction } from '../../../db/engine.ts';
import type { ImportUndone } from '../import-list.ts';
import { undoCoverage } from '../coverage.ts';
import { findImportToUndo, lastFindingId, undoFindings, type UndoStep } from './findings.ts';
import { undoAssets } from './assets.ts';
import { undoSnapshots } from './snapshots.ts';
import { undoSightings } from './sightings.ts';
import { undoStatuses } from './statuses.ts';
import { AdaptiveWriter } from '../../../db/concurrency/adaptive-writer.ts';

/** Rows in the first transaction and in the largest; ids per scan for sightings. */
const FIRST_BATCH = 50;
const MAX_BATCH = 300;
const IDS_PER_BATCH = 4_000;

/**
 * Undoes an import that has ended, in small transactions (operation 82). After a crash it continues where it stopped
 * and counts only the rest.
 */
export async function undoImport(
  { db, caller, clock, signal }: { db: Database; caller: Caller; clock: () => number; signal: AbortSignal },
  id: number,
): Promise<Omit<ImportUndone, 'at'>> {
  const counts = { findings: 0, assets: 0, statuses: 0, kept: 0 };
  const target = await findImportToUndo(db.read, id);
  if (target === undefined) return counts;
  const writer = new AdaptiveWriter(db, signal, { dryRun: false, size: FIRST_BATCH, most: MAX_BATCH });
  const by = () => ({ actor: caller, now: clock() });
  const repeat = async (
    of: 'findings' | 'assets' | 'statuses' | undefined,
    step: (tx: Transaction, after: number, limit: number) => Promise<UndoStep>,
  ): Promise<void> => {
    for (let after: number | null = 0; after !== null;) {
      const from: number = after;
      const limit = writer.batchSize;
      const { last, done, kept }: UndoStep = await writer.write(limit, (tx) => step(tx, from, limit));
      if (of !== undefined) counts[of] += done;
      counts.kept += kept;
      after = last;
    }
  };
  // Coverage first, because other reports may cover the same. Statuses and texts before sightings, because the last
  // sighting decides whether they are restored. Assets last, once nothing links to them.
  await writer.write(1, (tx) => undoCoverage(tx, target));
  await repeat('statuses', (tx, after, limit) => undoStatuses(tx, target, by(), after, limit));
  await repeat('findings', (tx, after, limit) => undoFindings(tx, target, after, limit));
  await repeat(undefined, (tx, after, limit) => undoSnapshots(tx, target, by(), after, limit));
  const last = target.assessmentId === null ? 0 : await lastFindingId(db.read);
  for (let after = 0; after < last; after += IDS_PER_BATCH)
    await writer.write(1, (tx) => undoSightings(tx, target, after, after + IDS_PER_BATCH));
  await repeat('assets', (tx, after, limit) => undoAssets(tx, target, by(), after, limit));
  return counts;
}
