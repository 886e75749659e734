import { prepareInsert } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { ImportJob } from './import-types.ts';
import type { ScannerColumns } from './sighting.ts';

/** For how long, in milliseconds, it is known what an import overwrote: an undo gives it back until then. */
export const SNAPSHOT_RETENTION = 30 * 86_400_000;

/** What an import changed of a finding that stood, as it was before; what it did not change is absent. */
export interface FindingSnapshot {
  columns?: Partial<ScannerColumns>;
  /** The digest of what the scanner said. */
  content?: string;
  /** When it was gone, in milliseconds since 1970, and by which import. */
  gone?: readonly [at: number, importId: number | null];
  firstSeenAt?: number;
  /** The id of the asset that the import linked it with. */
  linked?: number;
}

const insertSnapshots = prepareInsert(
  'import_changes',
  { import_id: 'int', vulnerability_id: 'int', organization_id: 'int', changed_at: 'int', before: 'text' },
  'on conflict (import_id, vulnerability_id) do nothing',
);

/** What an import changes of findings, collected to be remembered in one statement. */
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

/** What an import changed of a finding, as its row has it. */
export interface StoredSnapshot {
  importId: number;
  before: FindingSnapshot;
}

/**
 * Reads what the next import after one changed of findings.
 * @param ids of vulnerabilities, by which the answer is
 */
export async function nextSnapshots(
  tx: Transaction,
  importId: number,
  ids: readonly number[],
): Promise<Map<number, StoredSnapshot>> {
  const rows = await tx
    .selectFrom('import_changes')
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
