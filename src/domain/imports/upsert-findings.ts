import { sql } from 'kysely';
import { forNoKeyUpdate, inList, rowsAsJson, parseRows } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { portSetKey } from '../assets/port-sets.ts';
import { DeltaAccumulator, insertDeltas } from '../shared/counters.ts';
import { lockRows } from '../shared/lock-rows.ts';
import { severityRank, STATUS } from '../shared/statuses-and-severities.ts';
import { type LastDetection, lastDetection, parseLastDetection } from '../vulnerabilities/last-detection.ts';
import { createFindings, findCarriedDecisions } from './create-findings.ts';
import {
  type AssetLocation,
  type Detection,
  contentOf,
  insertDetections,
  storePortsOf,
} from './finding-detections.ts';
import { type NewContent, storeContents } from './finding-contents.ts';
import { type FindingContent, loadContentsOf } from './finding-facts.ts';
import type { FindingsJob } from './import-types.ts';
import { earlierOutcomes } from './resume-point.ts';
import { reconcileFindings } from './reconcile-findings.ts';
import { assetKey, resolveFindingAssets, type ResolvedAssets } from './apply-assets.ts';
import { lockListing } from './import-listing.ts';

/** The change of a finding; `below`: it has no vulnerability, because it is below the minimum severity. */
export type DetectionOutcome = 'new' | 'again' | 'reopened' | 'below';

export interface UpsertResult {
  /** The outcomes in the order of the detections. */
  outcomes: DetectionOutcome[];
  assetsCreated: AssetLocation[];
  /** Assets that the assessment does not list. */
  assetsOutside: AssetLocation[];
}

/** A stored finding with its last detection and its vulnerability. */
interface ExistingFinding {
  id: number;
  identity: string;
  content_hash: string;
  content: number;
  cover_key: string | null;
  cover_ports: string;
  tags: string | null;
  gone_at: number | null;
  /** The last detection as `lastDetection` selects it. */
  last: string | null;
  /** `null` if no import created a vulnerability. */
  status_id: number | null;
  closed_at: number | null;
  first_seen_at: number | null;
  import_id: number | null;
  /** 1 for a draft. */
  draft: number | null;
  /** The import that published the draft. */
  published_import_id: number | null;
  /** An asset that it links. */
  asset_id: number | null;
}

const EXISTING_COLUMNS = [
  'id',
  'identity',
  'content_hash',
  'content',
  'cover_key',
  'cover_ports',
  'tags',
  'gone_at',
  'last',
  'status_id',
  'closed_at',
  'first_seen_at',
  'import_id',
  'draft',
  'published_import_id',
  'asset_id',
] as const satisfies readonly (keyof ExistingFinding)[];

const selectExisting = prepareQuery<{ assessment: number; identities: readonly string[] }, ExistingFinding>(
  (db, p) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('scanner_findings as finding')
          .leftJoin('vulnerabilities', 'vulnerabilities.id', 'finding.vulnerability_id')
          .select([
            'finding.vulnerability_id as id',
            'finding.identity_hash as identity',
            'finding.content_hash',
            'finding.content',
            'finding.cover_key',
            'finding.cover_ports',
            'finding.tags',
            'finding.gone_at',
            lastDetection.as('last'),
            'vulnerabilities.status_id',
            'vulnerabilities.closed_at',
            'vulnerabilities.first_seen_at',
            'vulnerabilities.import_id',
            'vulnerabilities.draft',
            'vulnerabilities.published_import_id',
            sql<number | null>`(select min(asset_id) from vulnerability_assets as link
              where link.vulnerability_id = finding.vulnerability_id)`.as('asset_id'),
          ])
          .where('finding.assessment_id', '=', p.assessment)
          .where(({ ref }) => inList(db, ref('finding.identity_hash'), p.identities))
          .as('existing'),
      )
      .select(rowsAsJson(db, EXISTING_COLUMNS)),
);

/** A detection, with its stored finding if there is one. */
interface ReadDetection {
  detection: Detection;
  finding: ExistingFinding | undefined;
  last: LastDetection | undefined;
  /** False below the minimum severity. */
  createsVulnerability: boolean;
  carriedStatusId: number | null;
}

type RepeatedDetection = ReadDetection & { finding: ExistingFinding };

/**
 * Stores the detections of a report, and creates or changes their vulnerabilities (docs/companions.md, section 7).
 * Idempotent: a second run changes nothing and returns the same outcomes.
 * @param detections one per identity
 * @param now milliseconds since 1970
 */
export async function upsertFindings(
  tx: Transaction,
  job: FindingsJob,
  detections: readonly Detection[],
  now: number,
): Promise<UpsertResult> {
  const { options, assessment } = job;
  await lockListing(tx, job);
  const identities = detections.map(({ identity }) => identity);
  const rows = await selectExisting(tx, { assessment: assessment.id, identities });
  const existing = new Map(parseRows(EXISTING_COLUMNS, rows).map((row) => [row.identity, row]));
  const minimumRank = options.minimumSeverity === null ? 0 : severityRank(options.minimumSeverity);
  const carried = options.carry ? await findCarriedDecisions(tx, job, detections) : new Map<string, number>();
  const read = detections.map((detection): ReadDetection => {
    const finding = existing.get(detection.identity);
    return {
      detection,
      finding,
      last: finding === undefined ? undefined : parseLastDetection(finding.last),
      createsVulnerability: minimumRank === 0 || severityRank(detection.severity) >= minimumRank,
      carriedStatusId: carried.get(detection.identity) ?? null,
    };
  });
  const repeated = read.filter((entry): entry is RepeatedDetection => entry.finding !== undefined);
  const unchanged: RepeatedDetection[] = [];
  const changing: RepeatedDetection[] = [];
  for (const entry of repeated) (isUnchanged(job, entry) ? unchanged : changing).push(entry);
  // Vulnerabilities are locked before assets.
  await lockRows(
    tx,
    'vulnerabilities',
    changing.map(({ finding }) => finding.id),
    forNoKeyUpdate,
  );
  const created = read.filter(({ finding }) => finding === undefined);
  const settled = new Set(unchanged.map(({ detection }) => detection));
  const onAssets = read
    // A detection below the minimum severity counts only for an existing vulnerability.
    .filter(
      ({ createsVulnerability, finding }) =>
        createsVulnerability || (finding?.status_id != null && !isHidden(job, finding)),
    )
    .map(({ detection, createsVulnerability }) => ({
      detection,
      createsVulnerability,
      mayCreate: !settled.has(detection),
    }));
  const assets = await resolveFindingAssets(tx, job, onAssets, now);
  const sums = new DeltaAccumulator();
  // If this import is the last that detected the finding, an interrupted run has stored that.
  const unstored = unchanged.filter(({ last }) => last?.importId !== job.id);
  await insertDetections(
    tx,
    job,
    unstored.map(({ detection, finding: { id, content }, createsVulnerability, carriedStatusId }) => ({
      id,
      detection,
      content,
      createsVulnerability,
      carriedStatusId,
    })),
  );
  const changes = await applyChanging(tx, job, changing, assets, { sums, now });
  await createFindings(
    tx,
    job,
    created.map(({ detection, createsVulnerability, carriedStatusId }) => ({
      detection,
      createsVulnerability,
      carriedStatusId,
      asset: detection.asset === null ? undefined : assets.ids.get(assetKey(detection.asset)),
    })),
    { sums, now },
  );
  // Last, because concurrent transactions write to the same counters.
  await insertDeltas(tx, sums.rows());
  const earlier = await earlierOutcomes(tx, job, repeated);
  const outcomes = read.map(({ finding, createsVulnerability }): DetectionOutcome => {
    if (finding === undefined || isHidden(job, finding)) return createsVulnerability ? 'new' : 'below';
    return earlier.get(finding.id) ?? changes.get(finding.id) ?? 'again';
  });
  return { outcomes, assetsCreated: assets.created, assetsOutside: assets.outside };
}

/** Whether a detection changes only the time and the import of the last detection. */
function isUnchanged(job: FindingsJob, { detection, finding, last }: RepeatedDetection): boolean {
  const { status_id: statusId, closed_at: closedAt } = finding;
  const { seenAt } = detection;
  return (
    detection.isTimeKnown &&
    last?.isTimed === true &&
    (seenAt > last.seenAt || (seenAt === last.seenAt && job.id >= last.importId)) &&
    hasContent(detection, finding) &&
    finding.gone_at === null &&
    statusId !== null &&
    finding.import_id !== null &&
    detection.firstSeenAt >= (finding.first_seen_at ?? Infinity) &&
    !(statusId === STATUS.fixed && seenAt > (closedAt ?? Infinity)) &&
    (finding.asset_id !== null || detection.asset === null) &&
    !isHidden(job, finding)
  );
}

/** Whether the finding is a draft that the importer does not see: their report publishes it, as if it created it. */
const isHidden = ({ caller }: FindingsJob, { draft }: ExistingFinding): boolean =>
  draft === 1 && !caller.staff;

/** Whether a detection has the same content as a stored one. */
function hasContent(
  { contentHash, scanScope, tags }: Detection,
  content: Pick<FindingContent, 'content_hash' | 'cover_key' | 'cover_ports' | 'tags'>,
): boolean {
  return (
    contentHash === content.content_hash &&
    (scanScope?.key ?? null) === content.cover_key &&
    portSetKey(scanScope?.ports ?? '') === content.cover_ports &&
    (tags.length === 0 ? null : JSON.stringify(tags)) === content.tags
  );
}

/** Stores detections that change their findings, and applies them. @returns outcomes by finding */
async function applyChanging(
  tx: Transaction,
  job: FindingsJob,
  changing: readonly RepeatedDetection[],
  assets: ResolvedAssets,
  { sums, now }: { sums: DeltaAccumulator; now: number },
): Promise<Map<number, DetectionOutcome>> {
  const outcomes = new Map<number, DetectionOutcome>();
  if (changing.length === 0) return outcomes;
  const ids = changing.map(({ finding }) => finding.id);
  const stored = await loadContentsOf(tx, ids);
  const newContents: NewContent[] = [];
  const links = new Map<number, number>();
  const rows = changing.map((entry) => {
    const { detection, finding } = entry;
    const asset = detection.asset === null ? undefined : assets.ids.get(assetKey(detection.asset));
    if (asset !== undefined) links.set(finding.id, asset);
    const contents = stored.get(finding.id) ?? [];
    const existing = hasContent(detection, finding)
      ? finding.content
      : contents.find((content) => hasContent(detection, content))?.number;
    const number = existing ?? Math.max(finding.content, ...contents.map((content) => content.number)) + 1;
    if (existing === undefined)
      newContents.push({
        id: finding.id,
        content: contentOf(detection, number),
        asset: asset ?? null,
        columns: detection.columns(),
      });
    return { id: finding.id, content: number, ...entry };
  });
  await storePortsOf(
    tx,
    job,
    changing.map(({ detection }) => detection),
  );
  await storeContents(tx, newContents);
  await insertDetections(tx, job, rows, true);
  const { organizationId, assessment, caller, id: importId } = job;
  const changes = await reconcileFindings(
    tx,
    {
      organizationId,
      assessmentId: assessment.id,
      by: { actor: caller, now },
      importId,
      sums,
      assets: links,
      publication: {
        importId,
        columns: new Map(
          changing.flatMap(({ detection, finding, createsVulnerability }) =>
            createsVulnerability && isHidden(job, finding) ? [[finding.id, detection.columns()]] : [],
          ),
        ),
      },
    },
    ids,
  );
  for (const { id, before, after } of changes) {
    if (after === null) outcomes.set(id, 'below');
    else if (before === null) outcomes.set(id, 'new');
    else if (before.statusId === STATUS.fixed && after.statusId === STATUS.pendingFix)
      outcomes.set(id, 'reopened');
  }
  return outcomes;
}
