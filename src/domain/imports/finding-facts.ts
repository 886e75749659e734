import type { Caller, ChangeContext } from '../../auth/callers.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import type { Row } from '../../db/schema.ts';
import { groupBy } from '../shared/group-by.ts';
import { STATUS } from '../shared/statuses-and-severities.ts';
import { PUBLICATION_ENTRY } from '../vulnerabilities/drafts.ts';
import type { Retest } from '../vulnerabilities/retests.ts';
import {
  countedDetections,
  type CoveringScope,
  type FindingFacts,
  type StatusDecision,
  type StoredDetection,
} from './derive-finding.ts';
import type { ImportOptions } from './import-types.ts';
import type { Publication } from './publish-reported.ts';
import { findCoveringScopes } from './scan-scopes.ts';

/** The assessment of findings, and the imports that count. */
export interface FactsOf {
  organizationId: number;
  assessmentId: number;
  /** Who imports or undoes. */
  by: ChangeContext<Caller>;
  /** An import that is being undone, which does not count. */
  undoneImportId?: number | undefined;
  /** A scope that covers all of the findings and may not be stored yet. */
  scope?: CoveringScope | undefined;
  publication?: Publication | undefined;
}

/** A scanner's content of a finding, without its columns. */
export type FindingContent = Omit<Row<'finding_contents'>, 'vulnerability_id' | 'asset_id' | 'columns'>;

/** A stored finding with everything that determines its state. */
export interface FindingWithFacts {
  /** The id of its vulnerability; reserved if it has none. */
  id: number;
  identity: string;
  source: string;
  current: FindingContent;
  /** The content that the vulnerability should show: of the latest detection, or of staff's latest. */
  latest: FindingContent;
  /** The latest detection, if the vulnerability does not show it, and it differs from the one before. */
  overruled: { importId: number; content: FindingContent | undefined } | undefined;
  /** The content that an import detected, even if the import is being undone. */
  contentOf: (importId: number) => FindingContent | undefined;
  gone_at: number | null;
  gone_import_id: number | null;
  facts: FindingFacts;
  userEdits: UserEdits;
}

/** Changes by people. */
export interface UserEdits {
  /** The time of the first change; `null` if there is none. */
  firstAt: number | null;
  decisions: StatusDecision[];
  /** API fields. */
  fields: ReadonlySet<string>;
  /** Ids of tags that they added or removed. */
  tags: ReadonlySet<number>;
}

/**
 * Loads findings with their facts.
 * @param ids of vulnerabilities, or those reserved for them
 */
export async function loadFindingFacts(
  tx: Transaction,
  { organizationId, assessmentId, by, undoneImportId, scope, publication }: FactsOf,
  ids: readonly number[],
): Promise<FindingWithFacts[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .selectFrom('scanner_findings')
    .leftJoin('vulnerabilities', 'vulnerabilities.id', 'scanner_findings.vulnerability_id')
    .selectAll('scanner_findings')
    .select(['vulnerabilities.reported_by_staff', 'vulnerabilities.published_import_id'])
    .where((eb) => inList(tx, eb.ref('scanner_findings.vulnerability_id'), ids))
    .orderBy('scanner_findings.vulnerability_id')
    .execute();
  const detections = await loadDetections(tx, ids);
  const staffIds = rows.flatMap((row) => (row.reported_by_staff === 1 ? [row.vulnerability_id] : []));
  const staffImports = await loadStaffImports(
    tx,
    staffIds.flatMap((id) => detections.get(id)?.map(({ importId }) => importId) ?? []),
  );
  const editsById = await loadUserEdits(tx, ids);
  const changing = rows.flatMap(({ vulnerability_id: id, content }) =>
    detections.get(id)?.some((detection) => detection.content !== content) === true ? [id] : [],
  );
  const contents = await loadContentsOf(tx, changing);
  const findings = rows.map((row) => {
    const all = detections.get(row.vulnerability_id) ?? [];
    const remaining = all.filter(({ importId }) => importId !== undoneImportId);
    const current: FindingContent = {
      number: row.content,
      content_hash: row.content_hash,
      cover_key: row.cover_key,
      cover_host: row.cover_host,
      cover_ports: row.cover_ports,
      tags: row.tags,
    };
    const contentAt = (number: number | undefined) =>
      number === current.number
        ? current
        : contents.get(row.vulnerability_id)?.find((content) => content.number === number);
    const counted = countedDetections(remaining);
    const publisher = publication?.columns.has(row.vulnerability_id)
      ? publication.importId
      : row.published_import_id;
    const publishedBy = remaining.find(({ importId }) => importId === publisher)?.importId;
    // Only imports by staff change what staff reported. A draft that a client user's import published has the contents of
    // that report until staff import it again.
    const ofStaff = counted.filter(
      ({ importId }) =>
        importId === publishedBy || (staffImports.has(importId) && importId > (publishedBy ?? 0)),
    );
    const shown = (row.reported_by_staff === 1 && ofStaff.length > 0 ? ofStaff : counted).at(-1);
    const [previous, last] = counted.slice(-2).length === 2 ? counted.slice(-2) : [undefined, counted.at(-1)];
    return {
      row,
      all,
      remaining,
      publishedBy,
      current,
      latest: contentAt(shown?.content) ?? current,
      overruled:
        last === shown || last === undefined || last.content === previous?.content
          ? undefined
          : { importId: last.importId, content: contentAt(last.content) },
      contentOf: (importId: number) =>
        contentAt(all.find((detection) => detection.importId === importId)?.content),
    };
  });
  const coveringScopes = await findCoveringScopes(
    tx,
    { organizationId, assessmentId },
    findings.map(({ row: { source }, latest }) => ({ source, ...latest })),
  );
  const untested = await loadUntested(
    tx,
    assessmentId,
    rows.flatMap(({ identity_hash }, index) => (coveringScopes[index]?.length === 0 ? [] : [identity_hash])),
  );
  return findings.map(({ row, remaining, publishedBy, current, latest, overruled, contentOf }, index) => {
    const { vulnerability_id: id, identity_hash: identity, source, gone_at, gone_import_id } = row;
    const excluded = new Set([
      ...remaining.map(({ importId }) => importId),
      ...(untested.get(identity) ?? []),
      ...(undoneImportId === undefined ? [] : [undoneImportId]),
    ]);
    const scopes = (coveringScopes[index] ?? []).filter(({ importId }) => !excluded.has(importId));
    if (scope !== undefined && !scopes.some(({ importId }) => importId === scope.importId))
      scopes.push(scope);
    const edits = editsById.get(id) ?? NO_USER_EDITS;
    // Only staff can undo what staff reported: for others, it stays as if a person had changed it.
    const isHeld = row.reported_by_staff === 1 && !(undoneImportId !== undefined && by.actor.staff);
    return {
      id,
      identity,
      source,
      current,
      latest,
      overruled,
      contentOf,
      gone_at,
      gone_import_id,
      userEdits: edits,
      facts: {
        detections: remaining,
        scopes,
        decisions: edits.decisions,
        firstEditedAt: edits.firstAt ?? (isHeld ? Infinity : null),
        publishedBy,
      },
    };
  });
}

/** @returns by id, the imports that staff started, and whether their findings begin as drafts */
export async function loadStaffImports(
  tx: Transaction,
  importIds: readonly number[],
): Promise<ReadonlyMap<number, { isDraft: boolean }>> {
  if (importIds.length === 0) return new Map();
  const rows = await tx
    .selectFrom('imports')
    .select(['id', 'options'])
    .where((eb) => inList(tx, eb.ref('id'), [...new Set(importIds)]))
    .where('by_staff', '=', 1)
    .execute();
  return new Map(
    rows.map(({ id, options }) => [id, { isDraft: parse<ImportOptions>(options).draft === true }]),
  );
}

async function loadDetections(
  tx: Transaction,
  ids: readonly number[],
): Promise<Map<number, StoredDetection[]>> {
  const rows = await tx
    .selectFrom('detections')
    .selectAll()
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .execute();
  return groupBy(
    rows,
    (row) => row.vulnerability_id,
    (row) => ({
      importId: row.import_id,
      firstSeenAt: row.first_seen_at,
      seenAt: row.seen_at,
      content: row.content,
      createsVulnerability: row.is_made === 1,
      isTimed: row.is_timed === 1,
      carriedStatusId: row.carried_status_id,
    }),
  );
}

/** @returns by finding, its contents that are stored apart from its vulnerability, without their columns */
export async function loadContentsOf(
  tx: Transaction,
  ids: readonly number[],
): Promise<Map<number, FindingContent[]>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .selectFrom('finding_contents')
    .select(['vulnerability_id', 'number', 'content_hash', 'cover_key', 'cover_host', 'cover_ports', 'tags'])
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .execute();
  return groupBy(
    rows,
    (row) => row.vulnerability_id,
    (row) => row,
  );
}

/** @returns for each identity, the imports that list the finding as not tested */
export async function loadUntested(
  tx: Transaction,
  assessmentId: number,
  identities: readonly string[],
): Promise<Map<string, number[]>> {
  if (identities.length === 0) return new Map();
  const rows = await tx
    .selectFrom('untested_findings')
    .select(['identity_hash', 'import_id'])
    .where('assessment_id', '=', assessmentId)
    .where((eb) => inList(tx, eb.ref('identity_hash'), identities))
    .execute();
  return groupBy(
    rows,
    (row) => row.identity_hash,
    (row) => row.import_id,
  );
}

/** The entry that staff get of the publication of a draft. */
const PUBLICATION_JSON = JSON.stringify(PUBLICATION_ENTRY.after);

const NO_USER_EDITS: UserEdits = { firstAt: null, decisions: [], fields: new Set(), tags: new Set() };

interface StatusSnapshot {
  status_id: number;
}

interface TagsSnapshot {
  tags?: readonly { id: number }[];
}

/**
 * Reads the changes of people from the timelines. Other entries name their import, or have the kind `seen` or `gone`.
 */
async function loadUserEdits(tx: Transaction, ids: readonly number[]): Promise<Map<number, UserEdits>> {
  const rows = await tx
    .selectFrom('timeline_entries')
    .select(['vulnerability_id', 'at', 'kind', 'before', 'after'])
    .where((eb) => inList(tx, eb.ref('vulnerability_id'), ids))
    .where('import_id', 'is', null)
    .where('kind', 'not in', ['seen', 'gone'])
    .orderBy('at')
    .orderBy('id')
    .execute();
  const editsById = new Map<number, UserEdits & { fields: Set<string>; tags: Set<number> }>();
  for (const { vulnerability_id: id, at, kind, before, after } of rows) {
    // Publishing is not an edit of the finding.
    if (kind === 'edited' && after === PUBLICATION_JSON) continue;
    let edits = editsById.get(id);
    if (edits === undefined)
      editsById.set(id, (edits = { firstAt: at, decisions: [], fields: new Set(), tags: new Set() }));
    if (kind === 'retest') {
      const { status: retest } = parse<{ status: Retest['status'] }>(after);
      if (retest !== undefined) edits.decisions.push({ at, retest });
    } else if (kind === 'status') {
      const { status_id: statusId } = parse<StatusSnapshot>(after);
      const last = edits.decisions.at(-1);
      // A retest also changes the status, with a status entry right after its own.
      const isOfRetest =
        last !== undefined &&
        'retest' in last &&
        last.at === at &&
        (last.retest === 'requested' ? statusId : parse<StatusSnapshot>(before).status_id) ===
          STATUS.pendingVerification;
      if (statusId !== undefined && !isOfRetest) edits.decisions.push({ at, statusId });
    } else if (kind === 'edited') for (const name of Object.keys(parse(after))) edits.fields.add(name);
    else if (kind === 'tags') {
      const tagsBefore = new Set(parse<TagsSnapshot>(before).tags?.map((tag) => tag.id));
      const tagsAfter = new Set(parse<TagsSnapshot>(after).tags?.map((tag) => tag.id));
      for (const tag of [...tagsBefore, ...tagsAfter])
        if (tagsBefore.has(tag) !== tagsAfter.has(tag)) edits.tags.add(tag);
    }
  }
  return editsById;
}

function parse<T extends object>(json: string | null): Partial<T> {
  return JSON.parse(json ?? '{}') as Partial<T>;
}
