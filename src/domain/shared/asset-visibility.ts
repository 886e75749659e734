import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { rolesWith } from '../../auth/roles.ts';
import type { ReadConnection } from '../../db/database.ts';
import { anyOf, inList, withoutIndex } from '../../db/dialect-sql.ts';
import {
  hasRole,
  inAccessibleOrganization,
  inListing,
  TRUE,
  type Visibility,
  type VisibilityParameters,
} from './visibility.ts';

/** Tests whether a row of `assets` is visible. For queries that find the row by its id, uid or location. */
export function assetIsVisible(visibility: Visibility, p: VisibilityParameters): RawBuilder<SqlBool> {
  return assetCondition(
    visibility,
    withoutIndex(sql.ref<number>('assets.organization_id')),
    isInAssessments(visibility, p),
    p,
  );
}

/**
 * Callers with more assessments are likely to see much of their organization, so the query reads its assets in order and
 * tests each. PostgreSQL would otherwise search an index for all of these ids at each asset.
 */
const MAX_SEARCHED_IDS = 200;

/**
 * Like `assetIsVisible` for an operation that reads, in a form that can use indexes to find the rows.
 * @param assessmentIds by `loadAssessmentIds`
 * @param readsAll whether the query reads all rows, and not a page
 */
export function assetIsVisibleByIndex(
  db: Pick<ReadConnection, 'engine'>,
  visibility: Visibility,
  p: VisibilityParameters,
  assessmentIds: readonly number[],
  readsAll: boolean,
): RawBuilder<SqlBool> {
  const organizationId = sql.ref<number>('assets.organization_id');
  if (visibility.kind !== 'client')
    return assetCondition(
      visibility,
      organizationId,
      sql`assets.id in (${assetsIn('listing_assets', inListing(visibility, p))})`,
      p,
    );
  const id = sql.ref<number>('assessments.id');
  const isWide = assessmentIds.length > MAX_SEARCHED_IDS;
  const isOne = sql<SqlBool>`assessments.organization_id = ${p.callerOrganizationId}
    and ${inList(db, isWide ? withoutIndex(id) : id, assessmentIds)}`;
  const withFindings = sql<SqlBool>`${isOne} and ${seesVulnerabilities(p)}`;
  // SQLite would collect the assets of every vulnerability, which may be a million.
  const testsFindings = isWide && (db.engine === 'sqlite' || !readsAll);
  const sets = sql.join(
    [
      assetsIn('listing_assets', isOne),
      assetsIn('detected_assets', isOne),
      ...(testsFindings ? [] : [assetsWithFindings(db, withFindings)]),
    ],
    sql` union all `,
  );
  const included = anyOf([sql`assets.id in (${sets})`, ...(testsFindings ? [hasFinding(withFindings)] : [])]);
  return assetCondition(
    visibility,
    organizationId,
    isWide ? sql`(${organizationId} = ${p.callerOrganizationId} and ${included})` : included,
    p,
  );
}

/** `detected_assets` are those that the imports of an assessment saw. */
type AssessmentAssets = 'listing_assets' | 'detected_assets';

/** Finds the vulnerability of a row of `vulnerability_assets`. Client users see no assets through drafts. */
const LINKED_VULNERABILITY = sql`vulnerabilities.id = vulnerability_assets.vulnerability_id and vulnerabilities.draft = 0`;

/** Selects the assets of assessments. @param condition about the row of `assessments` */
function assetsIn(table: AssessmentAssets, condition: RawBuilder<SqlBool>): RawBuilder<unknown> {
  return sql`select ${sql.ref(`${table}.asset_id`)} from assessments
    join ${sql.table(table)} on ${sql.ref(`${table}.assessment_id`)} = assessments.id where ${condition}`;
}

/**
 * Selects the assets of the vulnerabilities of assessments. With `offset`, PostgreSQL reads them by
 * assessment; without it, PostgreSQL may read those of all organizations.
 * @param condition about the row of `assessments`
 */
function assetsWithFindings(
  { engine }: Pick<ReadConnection, 'engine'>,
  condition: RawBuilder<SqlBool>,
): RawBuilder<unknown> {
  const ofAssessment = sql`vulnerabilities.assessment_id = assessments.id`;
  return engine === 'postgres'
    ? sql`select linked.asset_id from assessments
        cross join lateral (select vulnerability_assets.asset_id
          from vulnerabilities join vulnerability_assets on ${LINKED_VULNERABILITY}
          where ${ofAssessment} offset 0) as linked where ${condition}`
    : sql`select vulnerability_assets.asset_id from assessments
        join vulnerabilities on ${ofAssessment}
        join vulnerability_assets on ${LINKED_VULNERABILITY} where ${condition}`;
}

/** Whether an assessment has the row of `assets`. @param condition about the row of `assessments` */
function isIn(table: AssessmentAssets, condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select 1 from ${sql.table(table)} join assessments on assessments.id = ${sql.ref(`${table}.assessment_id`)}
    where ${sql.ref(`${table}.asset_id`)} = assets.id and ${condition})`;
}

/**
 * Whether a vulnerability of an assessment has the row of `assets`. With `offset`, PostgreSQL looks them up for
 * each row; without it, PostgreSQL would collect those of all assets before the first row.
 * @param condition about the row of `assessments`
 */
function hasFinding(condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select 1 from vulnerability_assets join vulnerabilities on ${LINKED_VULNERABILITY}
      join assessments on assessments.id = vulnerabilities.assessment_id
    where vulnerability_assets.asset_id = assets.id and ${condition} limit 1 offset 0)`;
}

/** Whether a client user sees the vulnerabilities of the row of `assessments`. */
function seesVulnerabilities(p: VisibilityParameters): RawBuilder<SqlBool> {
  return hasRole(sql`${p.callerId}`, rolesWith('read_vulnerabilities'));
}

/**
 * Whether the row of `assets` belongs to an assessment, for reading and for its imports: through its listing, an import
 * that saw the asset, or a vulnerability.
 */
export function isAssetOfAssessment(
  assessmentId: number,
  { withFindings }: { withFindings: boolean },
): RawBuilder<SqlBool> {
  const isOne = sql<SqlBool>`assessments.id = ${assessmentId}`;
  return anyOf([
    isIn('listing_assets', isOne),
    isIn('detected_assets', isOne),
    ...(withFindings ? [hasFinding(isOne)] : []),
  ]);
}

function assetCondition(
  { rules, kind }: Visibility,
  organizationId: Expression<unknown>,
  isIncluded: RawBuilder<SqlBool>,
  p: VisibilityParameters,
): RawBuilder<SqlBool> {
  return anyOf(
    rules.map(({ level, writableBy }) => {
      const matchesWriters =
        writableBy === null
          ? TRUE
          : sql<SqlBool>`assets.writable_by in (${sql.join(writableBy.map((writer) => sql.lit(writer)))})`;
      switch (level) {
        case 'global':
          return matchesWriters;
        case 'organization':
          return sql<SqlBool>`(${matchesWriters} and ${inAccessibleOrganization({ kind }, organizationId, p)})`;
        case 'listing':
          return sql<SqlBool>`(${matchesWriters} and ${isIncluded})`;
      }
    }),
  );
}

/**
 * Whether the row of `assets` is in one of the caller's listings. When they read, client users also reach the assets that
 * the imports of their assessments saw, and those of the vulnerabilities that they see.
 */
function isInAssessments(visibility: Visibility, p: VisibilityParameters): RawBuilder<SqlBool> {
  const accessible = inListing(visibility, p);
  const isListed = isIn('listing_assets', accessible);
  return visibility.kind === 'client' && visibility.isReading
    ? anyOf([isListed, isIn('detected_assets', accessible), hasFinding(seesVulnerabilities(p))])
    : isListed;
}
