import { sql, type SqlBool } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { Permission } from '../../auth/roles.ts';
import type { ReadConnection } from '../../db/database.ts';
import type { Row } from '../../db/schema.ts';
import { containsSubstring } from '../../db/dialect-sql.ts';
import { notFound } from '../shared/errors.ts';
import { callerRoles, isPermitted } from '../shared/permissions.ts';
import { textFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { type UserRef, loadUserRefs } from '../shared/user-refs.ts';
import {
  inAccessibleOrganization,
  assessmentIsVisible,
  visibilityOf,
  visibilityParameters,
} from '../shared/visibility.ts';
import {
  EMPTY_RESULT,
  type ImportError,
  type ImportOptions,
  type ImportPreview,
  type ImportResult,
  type SkippedRecords,
  withoutFindingCounts,
} from './import-types.ts';

type ImportState = Row<'imports'>['state'];

export const IMPORT_STATES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies readonly ImportState[];

/** Progress of an import, as stored and as the API returns it. */
export interface ImportProgress {
  /** Bytes of the uploaded file. */
  bytesRead: number;
  bytesTotal: number;
  hosts: number;
  ports: number;
  findings: number;
  skipped: number;
  /** `null` while unknown and once the import has ended. */
  secondsLeft: number | null;
}

/**
 * The counts of an undo: `findings` whose vulnerabilities were deleted, deleted `assets`, restored `statuses`, and
 * `kept` objects: another import has them, a person changed them, or the caller may not delete them.
 */
export interface ImportUndone {
  /** Milliseconds since 1970. */
  at: number;
  findings: number;
  assets: number;
  statuses: number;
  kept: number;
}

/** An import as the API returns it; times in milliseconds since 1970. */
export interface ImportView {
  id: number;
  state: ImportState;
  format: string;
  filename: string;
  /** Bytes, as uploaded. */
  size: number;
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string;
  organizationId: number;
  organizationUid: string;
  /** Uid; `null` for a report of hosts only. */
  assessment: string | null;
  options: ImportOptions;
  progress: ImportProgress;
  skips: readonly SkippedRecords[];
  result: ImportResult | null;
  /** Set for dry runs. */
  preview: ImportPreview | null;
  error: ImportError | null;
  undone: ImportUndone | null;
  createdBy: UserRef | null;
  /** 1 if staff started it. */
  byStaff: number;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  /** Whether the role of the caller permits what the import does. */
  isPermitted: boolean;
}

/**
 * An import is visible to everyone with access to its assessment; one without an assessment only to admins. Without the
 * permission to see vulnerabilities, or if they are drafts, its findings are not counted.
 */
const visibleImports = (db: ReadConnection, caller: Caller) => {
  const [visibility, parameters] = [visibilityOf(caller, 'read'), visibilityParameters(caller)];
  return db
    .selectFrom('imports')
    .innerJoin('organizations', 'organizations.id', 'imports.organization_id')
    .leftJoin('assessments', 'assessments.id', 'imports.assessment_id')
    .select([
      'imports.id',
      'imports.state',
      'imports.format',
      'imports.filename',
      'imports.size',
      'imports.sha256',
      'imports.organization_id',
      'organizations.uid as organization_uid',
      'assessments.uid as assessment',
      'imports.options',
      'imports.progress',
      'imports.skips',
      'imports.result',
      'imports.preview',
      'imports.error',
      'imports.undone',
      'imports.created_by',
      'imports.by_staff',
      'imports.hides_findings',
      'imports.created_at',
      'imports.started_at',
      'imports.finished_at',
    ])
    .select(callerRoles(visibility, parameters, sql.ref('imports.assessment_id')))
    .where(({ ref }) =>
      caller.admin || caller.staff
        ? inAccessibleOrganization(visibility, ref('imports.organization_id'), parameters)
        : assessmentIsVisible(visibility, parameters),
    );
};

type ImportRow = Awaited<ReturnType<ReturnType<typeof visibleImports>['executeTakeFirstOrThrow']>>;

/** Matches the stored JSON: a text in it cannot contain this, because its quotes are escaped. */
const IS_DRY = containsSubstring(sql.ref<string>('imports.options'), '"dryRun":true');

/** The imports that the caller can see (operation 66). */
export const importList = defineList({
  name: 'imports',
  rows: ({ db, caller }) => visibleImports(db, caller),
  id: 'imports.id',
  organization: 'imports.organization_id',
  filters: {
    state: textFilter('imports.state', { oneOf: IMPORT_STATES }),
    assessmentId: textFilter('assessments.uid'),
    dryRun: {
      kind: 'flag',
      where: (_listContext, dryRun) => (dryRun ? IS_DRY : sql<SqlBool>`not (${IS_DRY})`),
    },
  },
  sorts: { createdAt: { column: 'imports.created_at', type: 'integer' } },
  // Small, because skipped records and previews can be long.
  batchSize: 50,
  hydrate: ({ db, caller }, rows) => toViews(db, caller, rows),
});

/** @throws DomainError `not-found` for an import that the caller cannot see */
export async function readImport(db: ReadConnection, caller: Caller, id: number): Promise<ImportView> {
  const row = await visibleImports(db, caller).where('imports.id', '=', id).executeTakeFirst();
  const [view] = row === undefined ? [] : await toViews(db, caller, [row]);
  if (view === undefined) throw notFound('import');
  return view;
}

async function toViews(
  db: ReadConnection,
  caller: Caller,
  rows: readonly ImportRow[],
): Promise<ImportView[]> {
  const userOf = await loadUserRefs(
    db,
    rows.map((row) => row.created_by),
  );
  const views = rows.map((row): Omit<ImportView, 'isPermitted'> => ({
    id: row.id,
    state: row.state,
    format: row.format,
    filename: row.filename,
    size: row.size,
    sha256: row.sha256,
    organizationId: row.organization_id,
    organizationUid: row.organization_uid,
    assessment: row.assessment,
    options: visibleOptions(caller, JSON.parse(row.options) as ImportOptions),
    progress: { ...initialProgress(row.size), ...(JSON.parse(row.progress) as Partial<ImportProgress>) },
    skips: JSON.parse(row.skips) as SkippedRecords[],
    // Older results have fewer counts.
    result: row.result === null ? null : { ...EMPTY_RESULT, ...(JSON.parse(row.result) as object) },
    preview: parseNullable(row.preview) as ImportPreview | null,
    error: parseNullable(row.error) as ImportError | null,
    undone: parseNullable(row.undone) as ImportUndone | null,
    createdBy: userOf(row.created_by),
    byStaff: row.by_staff,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }));
  return views.map((view, index) => {
    const row = rows[index] as ImportRow;
    const permits = (permission: Permission) => isPermitted(caller, row.organization_id, row, permission);
    const complete: ImportView = {
      ...view,
      isPermitted: permits('report') || (permits('import_hosts') && view.progress.findings === 0),
    };
    const seesFindings = permits('read_vulnerabilities') && (caller.staff || row.hides_findings === 0);
    return seesFindings ? complete : withoutFindings(complete);
  });
}

/** Client users cannot see whether an import makes drafts. */
const visibleOptions = ({ staff }: Caller, options: ImportOptions): ImportOptions =>
  staff ? { ...options, draft: options.draft ?? false } : { ...options, draft: undefined };

/**
 * Removes the counts of findings, for a caller who may not see the vulnerabilities. Skipped records and what an undo kept
 * are removed too if the report has findings, because they would reveal the number.
 */
function withoutFindings(view: ImportView): ImportView {
  const { progress, skips, result, preview, undone } = view;
  const hasFindings = progress.findings > 0;
  return {
    ...view,
    progress: { ...progress, findings: 0, skipped: hasFindings ? 0 : progress.skipped },
    skips: hasFindings ? [] : skips,
    result: result && withoutFindingCounts(result),
    preview: preview && { new: [], again: [], reopened: [], gone: [] },
    undone: undone && { ...undone, findings: 0, statuses: 0, kept: hasFindings ? 0 : undone.kept },
  };
}

const initialProgress = (size: number): ImportProgress => ({
  bytesRead: 0,
  bytesTotal: size,
  hosts: 0,
  ports: 0,
  findings: 0,
  skipped: 0,
  secondsLeft: null,
});

function parseNullable(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
