import { createHash } from 'node:crypto';
import { type Caller, operatorCaller } from '../../src/auth/callers.ts';
import type { Database } from '../../src/db/database.ts';
import { finishUndo } from '../../src/domain/imports/import-lifecycle.ts';
import type { ImportJob, ImportOptions, ImportOutcome } from '../../src/domain/imports/import-types.ts';
import { undoImport } from '../../src/domain/imports/undo-import.ts';
import { findFormat } from '../../src/importers/formats/index.ts';
import { runImport } from '../../src/importers/run-import.ts';
import { nextImportId } from '../../src/domain/imports/start-import.ts';

export interface ImportPlace {
  organizationId: number;
  /** `null` for a report of hosts. */
  assessment: { id: number; uid: string } | null;
}

export interface Upload {
  /** The name of a format. */
  format: string;
  report: string | Uint8Array;
  options?: Partial<ImportOptions> | undefined;
  /** The time of the import, in milliseconds since 1970. No time in the report may be later. */
  at: number;
}

const CALLER = operatorCaller('an import');

export const DEFAULT_OPTIONS: ImportOptions = {
  whenGone: 'keep',
  targets: [],
  scannedAt: null,
  minimumSeverity: null,
  tags: [],
  carry: false,
  listAssets: false,
  dryRun: false,
};

/**
 * Imports a report like operation 65 and its job, but in this thread and without the queue, which takes milliseconds.
 * @param caller defaults to staff
 */
export async function importDirectly(
  db: Database,
  place: ImportPlace,
  upload: Upload,
  caller: Caller = CALLER,
): Promise<ImportOutcome & { id: number }> {
  const format = findFormat(upload.format);
  if (format === undefined) throw new Error(`There is no format ${upload.format}.`);
  const job = await createImport(db, place, upload, caller);
  const outcome = await runImport({
    db,
    source: async function* () {
      yield Buffer.from(upload.report);
    },
    format,
    job,
    clock: () => upload.at,
    signal: new AbortController().signal,
  });
  return { ...outcome, id: job.id };
}

/** Inserts the row of an import. @returns its job, for `runImport` */
export async function createImport(
  db: Database,
  { organizationId, assessment }: ImportPlace,
  { format, report, options: overrides, at }: Upload,
  caller: Caller = CALLER,
): Promise<ImportJob> {
  const options = { ...DEFAULT_OPTIONS, ...overrides };
  const sha256 = createHash('sha256').update(report).digest('hex');
  const { id } = await db.write(async (tx) =>
    tx
      .insertInto('imports')
      .values({
        id: await nextImportId(tx, options.dryRun),
        organization_id: organizationId,
        assessment_id: assessment?.id ?? null,
        created_by: caller.userId,
        by_staff: caller.staff ? 1 : 0,
        // The run ignores this flag.
        state: 'succeeded',
        format,
        filename: 'report',
        size: Buffer.byteLength(report),
        sha256,
        blob_key: null,
        options: JSON.stringify(options),
        started_by_caller: '{}',
        result: '{}',
        preview: null,
        error: null,
        undone: null,
        report_at: null,
        created_at: at,
        started_at: at,
        finished_at: at,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return {
    id,
    organizationId,
    assessment,
    caller,
    canWriteAssets: true,
    canReport: true,
    options,
    sha256,
    createdAt: at,
  };
}

/** Undoes an import like operation 82 and its job. */
export async function undoDirectly(
  db: Database,
  { id, at }: { id: number; at: number },
  caller: Caller = CALLER,
): Promise<Awaited<ReturnType<typeof undoImport>>> {
  const signal = new AbortController().signal;
  const counts = await undoImport({ db, caller, clock: () => at, signal }, id);
  await db.write((tx) => finishUndo(tx, { actor: caller, now: at }, id, counts));
  return counts;
}
