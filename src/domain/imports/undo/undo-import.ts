import type { Caller } from '../../../auth/callers.ts';
import type { Database, Transaction } from '../../../db/engine.ts';
import type { ImportUndone } from '../import-list.ts';
import { undoCoverage } from '../coverage.ts';
import { findImportToUndo, lastFindingId, undoFindings, type UndoStep } from './findings.ts';
import { undoAssets } from './assets.ts';
import { undoSnapshots } from './snapshots.ts';
import { undoSightings } from './sightings.ts';
import { undoStatuses } from './statuses.ts';
import { AdaptiveWriter } from '../adaptive-writer.ts';

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
  const undone = await findImportToUndo(db.read, id);
  if (undone === undefined) return counts;
  const units = new AdaptiveWriter(db, signal, { dryRun: false, size: FIRST_BATCH, most: MAX_BATCH });
  const act = () => ({ actor: caller, now: clock() });
  const every = async (
    of: 'findings' | 'assets' | 'statuses' | undefined,
    step: (tx: Transaction, after: number, limit: number) => Promise<UndoStep>,
  ): Promise<void> => {
    for (let after: number | null = 0; after !== null;) {
      const from: number = after;
      const limit = units.batchSize;
      const { last, done, kept }: UndoStep = await units.write(limit, (tx) => step(tx, from, limit));
      if (of !== undefined) counts[of] += done;
      counts.kept += kept;
      after = last;
    }
  };
  // Coverage first, because other reports may cover the same. Statuses and texts before sightings, because the last
  // sighting decides whether they are restored. Assets last, once nothing links to them.
  await units.write(1, (tx) => undoCoverage(tx, undone));
  await every('statuses', (tx, after, limit) => undoStatuses(tx, undone, act(), after, limit));
  await every('findings', (tx, after, limit) => undoFindings(tx, undone, after, limit));
  await every(undefined, (tx, after, limit) => undoSnapshots(tx, undone, act(), after, limit));
  const last = undone.assessmentId === null ? 0 : await lastFindingId(db.read);
  for (let after = 0; after < last; after += IDS_PER_BATCH)
    await units.write(1, (tx) => undoSightings(tx, undone, after, after + IDS_PER_BATCH));
  await every('assets', (tx, after, limit) => undoAssets(tx, undone, act(), after, limit));
  return counts;
}
