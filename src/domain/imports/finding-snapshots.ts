import { prepareInsert } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { ImportJob } from './import-types.ts';
import type { ScannerColumns } from './sighting.ts';

/** Milliseconds. An undo restores overwritten values for this long. */
export const SNAPSHOT_RETENTION = 30 * 86_400_000;

/** The state of a finding before an import changed it. Unchanged values are absent. */
export interface FindingSnapshot {
  columns?: Partial<ScannerColumns>;
  /** Hash of what the scanner reported. */
  content?: string;
  /** When and by which import it was marked as gone; milliseconds since 1970. */
  gone?: readonly [at: number, importId: number | null];
  firstSeenAt?: number;
  /** Id of the asset that the import linked. */
  linked?: number;
}

const insertSnapshots = prepareInsert(
  'import_finding_snapshots',
  { import_id: 'int', vulnerability_id: 'int', organization_id: 'int', changed_at: 'int', before: 'text' },
  'on conflict (import_id, vulnerability_id) do nothing',
);

/** Collects the snapshots of an import and writes them in one statement. */
export class SnapshotRecorder {
  readonly #before = new Map<number, FindingSnapshot>();

  /** @param id of the vulnerability */
  add(id: number, before: FindingSnapshot): void {
    this.#before.set(id, { ...this.#before.get(id), ...before });
  }

  async save(tx: Transaction, job: ImportJob, now: number): Promise<void> {
    await insertSnapshots(
      tx,
      [...this.#before].map(([id, before]) => [job.id, id, job.organizationId, now, JSON.stringify(before)]),
    );
  }
}

export interface StoredSnapshot {
  importId: number;
  before: FindingSnapshot;
}

/**
 * Reads what the next later import changed about each finding.
 * @param ids of vulnerabilities
 * @returns by vulnerability
 */
export async function nextSnapshots(
  tx: Transaction,
  importId: number,
  ids: readonly number[],
): Promise<Map<number, StoredSnapshot>> {
  const rows = await tx
    .selectFrom('import_finding_snapshots')
    .select(['import_id', 'vulnerability_id', 'before'])
    .where('import_id', '>', importId)
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .orderBy('import_id', 'desc')
    .execute();
  return new Map(
    rows.map((row) => [
      row.vulnerability_id,
      { importId: row.import_id, before: JSON.parse(row.before) as FindingSnapshot },
    ]),
  );
}
