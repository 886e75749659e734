import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { type ImportJob, type ImportResult } from './import-types.ts';

/**
 * Returns the report time that the same bytes had on their first import into the assessment, or into the organization
 * if the job has none, in milliseconds since 1970. Ignores undone imports and dry runs.
 */
export async function firstReportTime(db: ReadConnection, job: ImportJob): Promise<number | undefined> {
  const rows = await db
    .selectFrom('imports')
    .select('report_at')
    .where('organization_id', '=', job.organizationId)
    .where('sha256', '=', job.sha256)
    .where('assessment_id', job.assessment === null ? 'is' : '=', job.assessment?.id ?? null)
    .where('report_at', 'is not', null)
    .where('undone', 'is', null)
    .orderBy('id')
    .limit(1)
    .execute();
  return rows[0]?.report_at ?? undefined;
}

/** Saves the report time so that a restarted run finds it. */
export async function saveReportTime(tx: Transaction, job: ImportJob, at: number): Promise<void> {
  await tx.updateTable('imports').set({ report_at: at }).where('id', '=', job.id).execute();
}

const PAGE_SIZE = 100;

/** Counts what an interrupted run has already done to assets. Findings need no count: they are upserted again. */
export async function countAlreadyApplied(
  db: ReadConnection,
  job: ImportJob,
): Promise<Partial<ImportResult>> {
  const [created] = await db
    .selectFrom('assets')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('import_id', '=', job.id)
    .execute();
  const applied = {
    assets_created: created?.count ?? 0,
    assets_updated: 0,
    ports_opened: 0,
    ports_closed: 0,
  };
  let last = { asset_id: 0, id: 0 };
  for (;;) {
    const rows = await portEventsAfter(db, job.id, last);
    for (const { changes, asset_id, made_by } of rows) {
      if (made_by !== job.id && asset_id !== last.asset_id) applied.assets_updated += 1;
      last = { ...last, asset_id };
      for (const [, , before, [state]] of JSON.parse(changes) as StoredChange[]) {
        if (state === 'open' && before?.[0] !== 'open') applied.ports_opened += 1;
        if (state === 'closed' && before !== null && before[0] !== 'closed') applied.ports_closed += 1;
      }
    }
    if (rows.length < PAGE_SIZE) return applied;
    last = rows.at(-1) ?? last;
  }
}

type Facts = readonly (string | null)[];
type StoredChange = readonly [number: number, protocol: string, before: Facts | null, after: Facts];

function portEventsAfter(db: ReadConnection, importId: number, last: { asset_id: number; id: number }) {
  return db
    .selectFrom('port_events')
    .innerJoin('assets', 'assets.id', 'port_events.asset_id')
    .select(['port_events.id', 'port_events.asset_id', 'port_events.changes', 'assets.import_id as made_by'])
    .where('port_events.import_id', '=', importId)
    .where((eb) =>
      eb.or([
        eb('port_events.asset_id', '>', last.asset_id),
        eb.and([eb('port_events.asset_id', '=', last.asset_id), eb('port_events.id', '>', last.id)]),
      ]),
    )
    .orderBy('port_events.asset_id')
    .orderBy('port_events.id')
    .limit(PAGE_SIZE)
    .execute();
}
