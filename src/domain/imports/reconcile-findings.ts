import { forNoKeyUpdate, inList, type RowLock } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import type { DeltaAccumulator } from '../shared/counters.ts';
import { belongsToStaff } from '../shared/permissions.ts';
import { lockRows } from '../shared/lock-rows.ts';
import { STATUS } from '../shared/statuses-and-severities.ts';
import {
  buildVulnerabilityRow,
  insertVulnerabilities,
  insertVulnerabilityAssets,
  loadLinkedIds,
} from '../vulnerabilities/insert-vulnerabilities.ts';
import { recordTimelineEntries, type TimelineEntry } from '../vulnerabilities/timeline.ts';
import { countedFieldsOf, counterDeltas } from '../vulnerabilities/counter-deltas.ts';
import { deriveFinding, type DerivedFinding } from './derive-finding.ts';
import type { ScannerColumns } from './finding-detections.ts';
import {
  FIELD_OF_COLUMN,
  fieldSnapshot,
  loadContents,
  loadShownColumns,
  lockVulnerabilityRows,
  overwriteColumns,
  SCANNER_COLUMNS,
  setLatestContents,
  storeContents,
} from './finding-contents.ts';
import { type FactsOf, loadFindingFacts, loadStaffImports } from './finding-facts.ts';
import { publishReported, onlyDrafts } from './publish-reported.ts';
import {
  applyGoneMarks,
  applyOrigins,
  applyStatuses,
  authorOf,
  type StateContext,
  type StatePlan,
  addTags,
  changeTags,
} from './finding-state.ts';

export interface Reconciling extends StateContext {
  sums: DeltaAccumulator;
  /** The asset to link to a finding that has none, by finding. */
  assets?: ReadonlyMap<number, number>;
  lock?: RowLock;
}

/** The vulnerability of a finding; `null` where it does not exist. */
export interface FindingChange {
  id: number;
  /**
   * Whether an undo keeps anything of the import: the vulnerability, a status, or a field that a person has edited
   * since.
   */
  isKept: boolean;
  /** Whether it was a draft before, of which only staff learn. */
  isDraft: boolean;
  before: FindingState | null;
  after: DerivedState | null;
}

interface FindingState {
  statusId: number;
  goneAt: number | null;
  goneImportId: number | null;
}

/** `importId` is `null` if only a person's change keeps the vulnerability. */
type DerivedState = FindingState & Pick<DerivedFinding, 'importId'>;

/** The derived and the stored state of a finding. The steps keep `row`, `assets` and `tags` up to date. */
interface Plan extends StatePlan {
  /** Whether a person edited a field whose content would now change. */
  isEdited: boolean;
  /** Ids of the linked assets and tags. */
  assets: number[];
  tags: number[];
}

/**
 * Creates, changes and deletes vulnerabilities to match the state that `deriveFinding` derives from detections, scan
 * scopes and changes by people.
 * @param ids of findings whose facts have changed, or are about to
 */
export async function reconcileFindings(
  tx: Transaction,
  request: Reconciling,
  ids: readonly number[],
): Promise<FindingChange[]> {
  const locked = await lockVulnerabilityRows(request.lock ?? forNoKeyUpdate)(tx, { ids });
  const rows = new Map(locked.map((row) => [row.id, row]));
  const context = { ...request, publication: onlyDrafts(request.publication, rows) };
  const findings = await loadFindingFacts(tx, context, ids);
  const [assets, tags] = [
    await loadLinkedIds(tx, 'assets', [...rows.keys()]),
    await loadLinkedIds(tx, 'tags', [...rows.keys()]),
  ];
  const plans = findings.map((finding): Plan => ({
    derived: deriveFinding(finding.facts),
    row: rows.get(finding.id),
    isEdited: false,
    isInternal: rows.get(finding.id)?.draft === 1,
    assets: assets.get(finding.id) ?? [],
    tags: tags.get(finding.id) ?? [],
    // Last: V8 takes ten times as long to add properties to a copy.
    ...finding,
  }));
  const before = plans.map((plan) => countedFields(context, plan));
  await deleteObsolete(tx, plans);
  await changeCreatorTags(tx, context, plans);
  const entries = await showLatestContents(tx, context, plans);
  await recordOverruled(tx, context, plans, entries);
  await publishReported(tx, context, plans);
  await createMissing(tx, context, plans);
  await changeLinks(tx, context, plans);
  await applyOrigins(tx, plans);
  const goneEntries = await applyGoneMarks(tx, context, plans, entries);
  const internalIds = new Set(plans.flatMap(({ id, isInternal }) => (isInternal ? [id] : [])));
  await recordTimelineEntries(
    tx,
    authorOf(context),
    [...entries.values(), ...goneEntries].map((entry) => ({
      ...entry,
      internal: internalIds.has(entry.vulnerabilityId),
    })),
  );
  const keptStatuses = await applyStatuses(tx, context, plans);
  for (const [index, plan] of plans.entries())
    context.sums.add(counterDeltas(before[index] ?? null, countedFields(context, plan)));
  return plans.map(
    ({ id, row, derived, isEdited, isInternal, gone_at: goneAt, gone_import_id: goneImportId }) => {
      const statusId = rows.get(id)?.status_id;
      const isOwn =
        context.undoneImportId !== undefined && rows.get(id)?.import_id === context.undoneImportId;
      return {
        id,
        isDraft: isInternal,
        isKept: row !== undefined && (isOwn || isEdited || keptStatuses.has(id)),
        before: statusId === undefined ? null : { statusId, goneAt, goneImportId },
        after: row === undefined || derived === undefined ? null : derived,
      };
    },
  );
}

function countedFields({ organizationId, assessmentId }: Omit<FactsOf, 'by'>, plan: Plan) {
  const { row, source, tags, assets } = plan;
  if (row === undefined) return null;
  return countedFieldsOf(
    { ...row, source, organization_id: organizationId, assessment_id: assessmentId },
    { tags, assets },
  );
}

/**
 * Deletes vulnerabilities that no import creates and no person changed, and those of their findings that have no
 * detections left.
 */
async function deleteObsolete(tx: Transaction, plans: readonly Plan[]): Promise<void> {
  const obsolete = plans.filter(({ derived }) => derived === undefined);
  if (obsolete.length === 0) return;
  const [detected, undetected] = [
    obsolete.filter(({ facts }) => facts.detections.length > 0),
    obsolete.filter(({ facts }) => facts.detections.length === 0),
  ];
  await storeShown(tx, detected);
  const deleted = obsolete.filter(({ row }) => row !== undefined);
  await lockRows(
    tx,
    'assets',
    deleted.flatMap(({ assets }) => assets),
    forNoKeyUpdate,
  );
  if (deleted.length > 0)
    await tx
      .deleteFrom('vulnerabilities')
      .where((eb) =>
        inList(
          tx,
          eb.ref('id'),
          deleted.map(({ id }) => id),
        ),
      )
      .execute();
  await deleteFindings(
    tx,
    undetected.map(({ id }) => id),
  );
  for (const plan of deleted) Object.assign(plan, { row: undefined, assets: [], tags: [] });
}

export async function deleteFindings(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  for (const table of ['detections', 'finding_contents', 'scanner_findings'] as const)
    await tx
      .deleteFrom(table)
      .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
      .execute();
}

/** Stores the displayed contents of vulnerabilities before they change. @returns the contents by id */
async function storeShown(tx: Transaction, plans: readonly Plan[]): Promise<Map<number, ScannerColumns>> {
  const existing = plans.filter(({ row }) => row !== undefined);
  const columnsById = await loadShownColumns(
    tx,
    existing.map(({ id }) => id),
  );
  await storeContents(
    tx,
    existing.flatMap(({ id, current, assets }) => {
      const columns = columnsById.get(id);
      return columns === undefined ? [] : [{ id, content: current, asset: assets[0] ?? null, columns }];
    }),
  );
  return columnsById;
}

/**
 * Makes vulnerabilities show their latest content, except for fields that a person edited.
 * @returns timeline entries of what differs, by finding
 */
async function showLatestContents(
  tx: Transaction,
  { organizationId, importId, undoneImportId, by }: Reconciling,
  plans: readonly Plan[],
): Promise<Map<number, TimelineEntry>> {
  const entries = new Map<number, TimelineEntry>();
  const outdated = plans.filter(
    ({ latest, current, facts }) => latest.number !== current.number && facts.detections.length > 0,
  );
  if (outdated.length === 0) return entries;
  const shownColumns = await storeShown(tx, outdated);
  const contents = await loadContents(tx, outdated);
  const overwritten: { id: number; columns: ScannerColumns }[] = [];
  for (const plan of outdated) {
    const { id, row, userEdits } = plan;
    const [columns, before] = [contents.get(id)?.columns, shownColumns.get(id)];
    if (row === undefined || columns === undefined || before === undefined) continue;
    const changedColumns = SCANNER_COLUMNS.filter((column) => before[column] !== columns[column]);
    const entry = seenEntry(organizationId, id, before, columns);
    if (entry !== undefined)
      entries.set(id, { ...entry, ...(undoneImportId === undefined ? { importId } : {}) });
    const written = changedColumns.filter((column) => !userEdits.fields.has(FIELD_OF_COLUMN[column]));
    const values = { ...before, ...Object.fromEntries(written.map((column) => [column, columns[column]])) };
    // The vector determines the score, so both come from the same author.
    if (userEdits.fields.has('cvss_score') || userEdits.fields.has('cvss_vector'))
      Object.assign(values, { cvss_score: before.cvss_score, cvss_vector: before.cvss_vector });
    plan.row = { ...row, severity: values.severity };
    plan.isEdited = written.length < changedColumns.length;
    if (SCANNER_COLUMNS.some((column) => values[column] !== before[column]))
      overwritten.push({ id, columns: values });
  }
  await overwriteColumns(tx, overwritten, by.now);
  await setLatestContents(tx, outdated);
  return entries;
}

/** Adds timeline entries of what this report says about findings that show what staff reported. */
async function recordOverruled(
  tx: Transaction,
  { organizationId, importId, undoneImportId }: Reconciling,
  plans: readonly Plan[],
  entries: Map<number, TimelineEntry>,
): Promise<void> {
  if (undoneImportId !== undefined) return;
  const overruled = plans.flatMap((plan) =>
    plan.row !== undefined && plan.overruled?.importId === importId && plan.overruled.content !== undefined
      ? [{ id: plan.id, latest: plan.overruled.content }]
      : [],
  );
  if (overruled.length === 0) return;
  const shown = await loadShownColumns(
    tx,
    overruled.map(({ id }) => id),
  );
  for (const [id, { columns }] of await loadContents(tx, overruled)) {
    const entry = seenEntry(organizationId, id, shown.get(id), columns);
    if (entry !== undefined) entries.set(id, { ...entry, importId });
  }
}

/** @returns the timeline entry of what differs between two contents; the timeline does not show evidence */
function seenEntry(
  organizationId: number,
  vulnerabilityId: number,
  before: ScannerColumns | undefined,
  after: ScannerColumns,
): TimelineEntry | undefined {
  if (before === undefined) return undefined;
  const columns = SCANNER_COLUMNS.filter(
    (column) => column !== 'http_requests' && before[column] !== after[column],
  );
  return columns.length === 0
    ? undefined
    : {
        organizationId,
        vulnerabilityId,
        kind: 'seen',
        before: fieldSnapshot(before, columns),
        after: fieldSnapshot(after, columns),
      };
}

async function changeCreatorTags(
  tx: Transaction,
  context: Reconciling,
  plans: readonly Plan[],
): Promise<void> {
  const moved = plans.filter(
    ({ row, derived }) => row !== undefined && derived !== undefined && row.import_id !== derived.importId,
  );
  const before = moved.map((plan) => ({ plan, creator: plan.row?.import_id ?? null }));
  const after = moved.map((plan) => ({ plan, creator: plan.derived?.importId ?? null }));
  await changeTags(tx, context, before, after);
}

/** Creates the vulnerabilities of findings that earlier imports detected but did not create. */
async function createMissing(tx: Transaction, context: Reconciling, plans: readonly Plan[]): Promise<void> {
  const missing = plans.filter(({ row, derived }) => row === undefined && derived !== undefined);
  if (missing.length === 0) return;
  const { organizationId, assessmentId, by } = context;
  const contents = await loadContents(tx, missing);
  const staffImports = await loadStaffImports(
    tx,
    missing.flatMap(({ derived }) => derived?.importId ?? []),
  );
  const created = missing.flatMap((plan) => {
    const content = contents.get(plan.id);
    const { derived } = plan;
    if (content === undefined || derived === undefined) return [];
    return [{ plan, content, derived, staffImport: staffImports.get(derived.importId ?? 0) }];
  });
  await insertVulnerabilities(
    tx,
    created.map(({ plan: { id, source }, content, derived, staffImport }) => ({
      ...buildVulnerabilityRow(
        { ...content.columns, validation_steps: '[]' },
        {
          id,
          assessment: { id: assessmentId, organization_id: organizationId },
          statusId: STATUS.pendingReview,
          reporter: { userId: by.actor.userId, staff: staffImport !== undefined },
          isDraft: staffImport?.isDraft === true,
          now: by.now,
        },
      ),
      source,
      first_seen_at: derived.firstSeenAt ?? by.now,
    })),
  );
  for (const { plan, content, derived, staffImport } of created)
    plan.row = {
      id: plan.id,
      severity: content.columns.severity,
      status_id: STATUS.pendingReview,
      created_at: by.now,
      closed_at: null,
      retest_status: null,
      status_before_retest: null,
      // `applyOrigins` sets it. The trigger of the search index skips rows with an import.
      import_id: null,
      reported_by_staff: staffImport === undefined ? 0 : 1,
      draft: staffImport?.isDraft === true ? 1 : 0,
      first_seen_at: derived.firstSeenAt ?? by.now,
    };
  await addTags(
    tx,
    context,
    created.map(({ plan, derived }) => ({ plan, creator: derived.importId })),
  );
}

/** Links the asset of the latest content, unless a person changed the links. */
async function changeLinks(
  tx: Transaction,
  { organizationId, assets: resolved, publication, by }: Reconciling,
  plans: readonly Plan[],
): Promise<void> {
  const free = plans.filter(({ row, userEdits }) => row !== undefined && !userEdits.fields.has('asset_uids'));
  const switched = await loadContents(
    tx,
    free.filter(({ latest, current, assets }) => latest.number !== current.number || assets.length === 0),
  );
  const candidates = free.flatMap((plan) => {
    const asset =
      switched.get(plan.id)?.asset ??
      (plan.assets.length === 0 &&
      (publication?.columns.has(plan.id) === true ||
        !belongsToStaff(by.actor, plan.row?.reported_by_staff ?? 0))
        ? resolved?.get(plan.id)
        : undefined);
    return asset === undefined || plan.assets.includes(asset) ? [] : [{ plan, asset }];
  });
  if (candidates.length === 0) return;
  // A person may have deleted it since.
  const existing = await tx
    .selectFrom('assets')
    .select('id')
    .where((eb) =>
      inList(
        tx,
        eb.ref('id'),
        candidates.flatMap(({ plan, asset }) => [asset, resolved?.get(plan.id) ?? asset]),
      ),
    )
    .execute();
  const exists = new Set(existing.map(({ id }) => id));
  const links = candidates.flatMap(({ plan, asset }) => {
    const linked = exists.has(asset) ? asset : plan.assets.length === 0 ? resolved?.get(plan.id) : undefined;
    return linked !== undefined && exists.has(linked) ? [{ plan, asset: linked }] : [];
  });
  await tx
    .deleteFrom('vulnerability_assets')
    .where((eb) =>
      inList(
        tx,
        eb.ref('vulnerability_id'),
        links.map(({ plan }) => plan.id),
      ),
    )
    .execute();
  await insertVulnerabilityAssets(
    tx,
    links.map(({ plan, asset }) => [organizationId, plan.id, asset]),
  );
  for (const { plan, asset } of links) plan.assets = [asset];
}
