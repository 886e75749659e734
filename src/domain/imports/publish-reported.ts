import type { Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { PUBLICATION_ENTRY } from '../vulnerabilities/drafts.ts';
import { recordTimelineEntries } from '../vulnerabilities/timeline.ts';
import { type LockedVulnerabilityRow, overwriteColumns } from './finding-contents.ts';
import type { ScannerColumns } from './finding-detections.ts';
import type { StateContext, StatePlan } from './finding-state.ts';

/** Drafts that a client user's import publishes because its report contains them. `columns` come from the report. */
export interface Publication {
  importId: number;
  columns: ReadonlyMap<number, ScannerColumns>;
}

/** Removes vulnerabilities that staff published before the rows were locked. The import does not change those. */
export function onlyDrafts(
  publication: Publication | undefined,
  rows: ReadonlyMap<number, LockedVulnerabilityRow>,
): Publication | undefined {
  if (publication === undefined) return undefined;
  const drafts = [...publication.columns].filter(([id]) => rows.get(id)?.draft === 1);
  return { ...publication, columns: new Map(drafts) };
}

/** Publishes drafts that a client user's import also reports, with the contents of its report. */
export async function publishReported(
  tx: Transaction,
  { organizationId, publication, by }: StateContext,
  plans: readonly StatePlan[],
): Promise<void> {
  if (publication === undefined) return;
  const published = plans.flatMap((plan) => {
    const columns = publication.columns.get(plan.id);
    return plan.row === undefined || columns === undefined ? [] : [{ plan, row: plan.row, columns }];
  });
  if (published.length === 0) return;
  const ids = published.map(({ plan }) => plan.id);
  const { importId } = publication;
  await overwriteColumns(
    tx,
    published.map(({ plan, columns }) => ({ id: plan.id, columns })),
    by.now,
  );
  await tx
    .updateTable('vulnerabilities')
    .set({ draft: 0, created_at: by.now, published_by: by.actor.userId, published_import_id: importId })
    .where((eb) => inList(tx, eb.ref('id'), ids))
    .execute();
  await recordTimelineEntries(
    tx,
    by,
    ids.map((id) => ({ organizationId, vulnerabilityId: id, importId, ...PUBLICATION_ENTRY })),
  );
  for (const { plan, row, columns } of published)
    plan.row = { ...row, severity: columns.severity, draft: 0, created_at: by.now };
}
