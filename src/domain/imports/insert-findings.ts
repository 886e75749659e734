import { prepareInsert, reserveIds } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import { enqueueForSearchIndex } from '../../db/vulnerability-search.ts';
import { DeltaAccumulator } from '../shared/counters.ts';
import { buildVulnerabilityRow, insertVulnerabilities } from '../vulnerabilities/insert-vulnerabilities.ts';
import {
  insertVulnerabilityAssets,
  insertVulnerabilityTags,
} from '../vulnerabilities/vulnerability-links.ts';
import { counterDeltas } from '../vulnerabilities/vulnerability-counters.ts';
import type { CoveringReport } from './coverage.ts';
import type { FindingsJob } from './import-types.ts';
import { storePortSets, portSetKey } from './port-sets.ts';
import type { Sighting, ScannerColumns } from './sighting.ts';
import { foldCase } from '../../runtime/fold-case.ts';

/** A finding to create. */
export interface NewFinding {
  sighting: Sighting;
  /** Ids. */
  tags: readonly number[];
  /** Id of its asset. */
  asset: number | undefined;
  /** Pending Review, unless a decision is carried over or a newer report no longer contains it. */
  statusId: number;
  /** When it was closed, if not now; milliseconds since 1970. */
  closedAt?: number | undefined;
  /** The newer report that covered its target without it. */
  gone: CoveringReport | null;
}

const insertFindings = prepareInsert('scanner_findings', {
  vulnerability_id: 'int',
  organization_id: 'int',
  assessment_id: 'int',
  identity_hash: 'text',
  source: 'text',
  cover_key: 'text',
  cover_host: 'text',
  cover_ports: 'text',
  content_hash: 'text',
  first_seen_at: 'int',
  last_seen_at: 'int',
  last_import_id: 'int',
  gone_at: 'int',
  gone_import_id: 'int',
});

/**
 * Inserts new findings with their tags and assets. They get neither audit event nor timeline entry: their rows name the
 * import and the time.
 * @param sums collects the counter changes
 * @returns the ids, in the order of the findings
 */
export async function insertNewFindings(
  tx: Transaction,
  job: FindingsJob,
  findings: readonly NewFinding[],
  { sums, now }: { sums: DeltaAccumulator; now: number },
): Promise<number[]> {
  const { organizationId, assessment, id: importId, caller } = job;
  const ids = await reserveIds(tx, 'vulnerabilities', findings.length);
  const idOf = (index: number) => ids[index] as number;
  const of = { id: assessment.id, organization_id: organizationId };
  await insertVulnerabilities(
    tx,
    findings.map(({ sighting, statusId, closedAt: closed }, index) => {
      const { source, firstSeenAt } = sighting;
      const finding = { ...sighting.columns(), validation_steps: '[]' };
      const by = caller.userId;
      const row = buildVulnerabilityRow(finding, { id: idOf(index), assessment: of, statusId, by, now });
      return {
        ...row,
        closed_at: closed ?? row.closed_at,
        source,
        first_seen_at: firstSeenAt,
        import_id: importId,
      };
    }),
  );
  await storePortSets(
    tx,
    organizationId,
    findings.map(({ sighting }) => sighting.coverage?.ports ?? ''),
  );
  await insertFindings(
    tx,
    findings.map(({ sighting, gone }, index) => [
      idOf(index),
      organizationId,
      assessment.id,
      sighting.identity,
      sighting.source,
      sighting.coverage?.key ?? null,
      sighting.coverage?.host ?? null,
      portSetKey(sighting.coverage?.ports ?? ''),
      sighting.contentHash,
      sighting.firstSeenAt,
      sighting.seenAt,
      importId,
      gone?.coveredAt ?? null,
      gone?.importId ?? null,
    ]),
  );
  await insertVulnerabilityAssets(
    tx,
    findings.flatMap(({ asset }, index) =>
      asset === undefined ? [] : [[organizationId, idOf(index), asset]],
    ),
  );
  await insertVulnerabilityTags(
    tx,
    findings.flatMap(({ tags }, index) => tags.map((tag) => [organizationId, idOf(index), tag])),
  );
  for (const { sighting, asset, statusId, tags } of findings)
    sums.add(
      counterDeltas(null, {
        organizationId,
        assessmentId: assessment.id,
        statusId,
        severity: sighting.severity,
        tags,
        assets: asset === undefined ? [] : [asset],
      }),
    );
  await enqueueForSearchIndex(tx, ids);
  return ids;
}

/** @returns the search texts of a finding */
export function normalizedTextsOf({
  title,
  description,
}: Pick<ScannerColumns, 'title' | 'description'>): [string, string] {
  return [foldCase(title), foldCase(description)];
}
