import { sql } from 'kysely';
import type { ChangeContext } from '../../auth/callers.ts';
import { inList, itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { changeStatuses } from '../vulnerabilities/change-status.ts';
import type { TimelineEntry } from '../vulnerabilities/timeline.ts';
import type { DerivedFinding } from './derive-finding.ts';
import type { LockedVulnerabilityRow } from './finding-contents.ts';
import type { FactsOf, FindingWithFacts } from './finding-facts.ts';
import { foldName } from '../../lib/fold-case.ts';
import { resolveTags } from '../vulnerabilities/resolve-tags.ts';
import { insertVulnerabilityTags } from '../vulnerabilities/insert-vulnerabilities.ts';
import { tagsByKeys } from '../vulnerabilities/vulnerability-tags.ts';
import type { ImportOptions } from './import-types.ts';

export interface StateContext extends FactsOf {
  /** The import that runs or is undone; timeline entries name it. */
  importId: number;
}

/** A finding with its vulnerability, and its new state. */
export interface StatePlan extends FindingWithFacts {
  derived: DerivedFinding | undefined;
  /** The vulnerability; the steps keep it up to date. */
  row: LockedVulnerabilityRow | undefined;
  /** Whether it was a draft before, so that only staff see these changes. */
  isInternal: boolean;
}

/** Attributes timeline entries to no person. */
export function systemChangeContext({ actor, now }: ChangeContext): ChangeContext {
  return { actor: { ...actor, userId: null }, now };
}

/** An undo is a person's decision; the changes of an import are not. */
export function authorOf({ by, undoneImportId }: StateContext): ChangeContext {
  return undoneImportId === undefined ? systemChangeContext(by) : by;
}

/** @returns the ids of vulnerabilities that keep a status set by the import that is undone */
export async function applyStatuses(
  tx: Transaction,
  context: StateContext,
  plans: readonly StatePlan[],
): Promise<ReadonlySet<number>> {
  const { organizationId, importId, undoneImportId, by } = context;
  const existing = plans.flatMap((plan) => {
    const { row, derived } = plan;
    return row === undefined || derived === undefined ? [] : [{ plan, row, derived }];
  });
  const [changed, unchanged] = [
    existing.filter(({ row, derived }) => row.status_id !== derived.statusId),
    existing.filter(({ row, derived }) => row.status_id === derived.statusId),
  ];
  const keptStatuses =
    undoneImportId === undefined
      ? []
      : await findIdsWithStatusChangeBy(
          tx,
          undoneImportId,
          unchanged.map(({ row }) => row.id),
        );
  await changeStatuses(
    tx,
    authorOf(context),
    changed.map(({ plan, row, derived }) => ({
      id: row.id,
      organizationId,
      draft: plan.isInternal ? 1 : 0,
      before: row.status_id,
      after: derived.statusId,
      statusSetAt: derived.decidedAt ?? by.now,
      closedAt: derived.closedAt,
    })),
    importId,
  );
  const moved = unchanged.filter(({ row, derived }) => row.closed_at !== derived.closedAt);
  const closings = moved.map(({ row, derived }) => [row.id, derived.closedAt]);
  if (moved.length > 0)
    await sql`update vulnerabilities set closed_at = ${itemInteger(1)}
      from ${jsonRowsTable(tx, closings)} where vulnerabilities.id = ${itemInteger(0)}`.execute(tx);
  const retested = existing.filter(
    ({ row: { status_before_retest: before }, derived: { statusBeforeRetest: derivedBefore } }) =>
      before !== null && derivedBefore !== null && before !== derivedBefore,
  );
  const restored = retested.map(({ row, derived }) => [row.id, derived.statusBeforeRetest]);
  if (restored.length > 0)
    await sql`update vulnerabilities set status_before_retest = ${itemInteger(1)}
      from ${jsonRowsTable(tx, restored)} where vulnerabilities.id = ${itemInteger(0)}`.execute(tx);
  for (const { plan, row, derived } of [...changed, ...moved])
    plan.row = { ...row, status_id: derived.statusId, closed_at: derived.closedAt };
  return new Set(keptStatuses);
}

/** @returns the ids of vulnerabilities whose status an import has changed */
async function findIdsWithStatusChangeBy(
  tx: Transaction,
  importId: number,
  ids: readonly number[],
): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .selectFrom('timeline_entries')
    .select('vulnerability_id')
    .distinct()
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .where('kind', '=', 'status')
    .where('import_id', '=', importId)
    .execute();
  return rows.map((row) => row.vulnerability_id);
}

/** Records the import that created vulnerabilities, and when they were first seen. */
export async function applyOrigins(tx: Transaction, plans: readonly StatePlan[]): Promise<void> {
  const changed = plans.flatMap(({ row, derived }) => {
    if (row === undefined || derived === undefined) return [];
    const firstSeenAt = derived.firstSeenAt ?? row.first_seen_at;
    return row.import_id === derived.importId && row.first_seen_at === firstSeenAt
      ? []
      : [[row.id, derived.importId, firstSeenAt]];
  });
  if (changed.length > 0)
    await sql`update vulnerabilities set import_id = ${itemInteger(1)}, first_seen_at = ${itemInteger(2)}
      from ${jsonRowsTable(tx, changed)} where vulnerabilities.id = ${itemInteger(0)}`.execute(tx);
}

/** @returns timeline entries for findings that are now gone; adds one to `entries` for each that was detected again */
export async function applyGoneMarks(
  tx: Transaction,
  { organizationId, importId, undoneImportId }: StateContext,
  plans: readonly StatePlan[],
  entries: Map<number, TimelineEntry>,
): Promise<TimelineEntry[]> {
  const changed = plans.flatMap((plan) => {
    const { id, row, derived, facts } = plan;
    if (derived === undefined && facts.detections.length === 0) return [];
    const [goneAt, goneImportId] = [derived?.goneAt ?? null, derived?.goneImportId ?? null];
    return plan.gone_at === goneAt && plan.gone_import_id === goneImportId
      ? []
      : [{ id, exists: row !== undefined, wasGone: plan.gone_at !== null, goneAt, goneImportId }];
  });
  if (changed.length === 0) return [];
  const rows = changed.map(({ id, goneAt, goneImportId }) => [id, goneAt, goneImportId]);
  await sql`update scanner_findings set gone_at = ${itemInteger(1)}, gone_import_id = ${itemInteger(2)}
    from ${jsonRowsTable(tx, rows)} where vulnerability_id = ${itemInteger(0)}`.execute(tx);
  const goneEntries: TimelineEntry[] = [];
  for (const { id, exists, wasGone, goneAt, goneImportId } of changed) {
    if (!exists) continue;
    const target = { organizationId, vulnerabilityId: id };
    if (goneAt !== null && !wasGone)
      goneEntries.push({
        ...target,
        kind: 'gone',
        importId: undoneImportId === undefined ? importId : (goneImportId as number),
      });
    if (goneAt === null && undoneImportId === undefined && !entries.has(id))
      entries.set(id, { ...target, kind: 'seen', importId });
  }
  return goneEntries;
}

/** A vulnerability whose tags may change. */
interface Tagged extends FindingWithFacts {
  /** Ids; kept up to date. */
  tags: number[];
}

interface TagContext {
  organizationId: number;
  by: ChangeContext;
}

/** The tags of an import's new vulnerabilities: those of its options and of the report. */
interface TagSource {
  plan: Tagged;
  /** Id of the import; `null` for none. */
  creator: number | null;
}

/** @returns by source, the names of the tags that its import gives a finding */
async function tagNamesOf(tx: Transaction, sources: readonly TagSource[]): Promise<Map<TagSource, string[]>> {
  const creators = [...new Set(sources.flatMap(({ creator }) => creator ?? []))];
  const imports = await tx
    .selectFrom('imports')
    .select(['id', 'options'])
    .where((eb) => inList(tx, eb.ref('id'), creators))
    .execute();
  const options = new Map(
    imports.map((row) => [row.id, (JSON.parse(row.options) as Partial<ImportOptions>).tags ?? []]),
  );
  return new Map(
    sources.map((source) => {
      const { plan, creator } = source;
      if (creator === null) return [source, []];
      const reported = JSON.parse(plan.contentOf(creator)?.tags ?? '[]') as string[];
      return [source, [...(options.get(creator) ?? []), ...reported]];
    }),
  );
}

/** Adds the tags of the import that creates a vulnerability. */
export async function addTags(
  tx: Transaction,
  context: TagContext,
  sources: readonly TagSource[],
): Promise<void> {
  const { organizationId, by } = context;
  const names = await tagNamesOf(tx, sources);
  const tagNames = [...new Set([...names.values()].flat())];
  if (tagNames.length === 0) return;
  const tags = await resolveTags(tx, by, organizationId, { tagNames });
  const idOf = new Map(tags.map((tag) => [tag.normalized_name, tag.id]));
  const links: [number, number, number][] = [];
  for (const [{ plan }, planNames] of names) {
    const added = new Set(planNames.flatMap((name) => idOf.get(foldName(name)) ?? []));
    for (const tag of added) {
      if (plan.tags.includes(tag) || plan.userEdits.tags.has(tag)) continue;
      links.push([organizationId, plan.id, tag]);
      plan.tags = [...plan.tags, tag];
    }
  }
  await insertVulnerabilityTags(tx, links);
}

/**
 * If vulnerabilities now belong to another import, replaces the tags of the previous one, unless a person changed them.
 * @param before the previous tags, in the order of `after`
 */
export async function changeTags(
  tx: Transaction,
  context: TagContext,
  before: readonly TagSource[],
  after: readonly TagSource[],
): Promise<void> {
  if (before.length === 0) return;
  const [namesBefore, namesAfter] = [await tagNamesOf(tx, before), await tagNamesOf(tx, after)];
  const keys = [...new Set([...namesBefore.values()].flat().map(foldName))];
  const tags = keys.length === 0 ? [] : await tagsByKeys(tx, { organization: context.organizationId, keys });
  const idOf = new Map(tags.map((tag) => [tag.normalized_name, tag.id]));
  const removed: [number, number][] = [];
  for (const [index, source] of before.entries()) {
    const { plan } = source;
    const keptKeys = new Set(namesAfter.get(after[index] as TagSource)?.map(foldName));
    for (const key of new Set(namesBefore.get(source)?.map(foldName))) {
      const tag = idOf.get(key);
      if (tag === undefined || keptKeys.has(key) || plan.userEdits.tags.has(tag) || !plan.tags.includes(tag))
        continue;
      removed.push([plan.id, tag]);
      plan.tags = plan.tags.filter((tagId) => tagId !== tag);
    }
  }
  if (removed.length > 0)
    await sql`delete from vulnerability_taggings where (vulnerability_id, tag_id) in (
      select ${itemInteger(0)}, ${itemInteger(1)} from ${jsonRowsTable(tx, removed)})`.execute(tx);
  await addTags(tx, context, after);
}
