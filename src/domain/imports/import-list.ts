import { sql, type SqlBool } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { Reader } from '../../db/engine.ts';
import type { ImportState } from '../../db/schema/imports.ts';
import { containsText } from '../../db/dialect-sql.ts';
import { missing } from '../shared/errors.ts';
import { textsIn } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { type NamedUser, nameUsers } from '../users/user-refs.ts';
import {
  belongsToOrganization,
  listingWithin,
  reachOfAccount,
  reachParameters,
} from '../shared/visibility.ts';
import type { ImportFault, ImportOptions, ImportPreview, ImportResult, ImportSkip } from './import-types.ts';

export const IMPORT_STATES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies readonly ImportState[];

/** How far a run is, as its row tells it. */
export interface KeptProgress {
  /** Of the file as it was sent. */
  bytesRead: number;
  bytesTotal: number;
  hosts: number;
  ports: number;
  findings: number;
  /** Records that were not taken. */
  skipped: number;
  /** `null` where nobody can say yet, and once it has ended. */
  secondsLeft: number | null;
}

/** What an undo took away and set back; `kept` is what others have touched since. */
export interface ImportUndone {
  /** Milliseconds since 1970. */
  at: number;
  findings: number;
  assets: number;
  statuses: number;
  kept: number;
}

/** An import, as those see it who reach it; times in milliseconds since 1970. */
export interface ImportView {
  id: number;
  state: ImportState;
  format: string;
  filename: string;
  /** Bytes, as it was sent. */
  size: number;
  /** Hex. */
  sha256: string;
  organizationId: number;
  organizationUid: string;
  /** The uid; `null` of a report of hosts alone. */
  assessment: string | null;
  options: ImportOptions;
  progress: KeptProgress;
  skips: readonly ImportSkip[];
  result: ImportResult | null;
  /** Of a dry run. */
  preview: ImportPreview | null;
  error: ImportFault | null;
  undone: ImportUndone | null;
  createdBy: NamedUser | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
}

/** Whoever has access to its assessment reaches an import; one without an assessment is the admins'. */
const reachableImports = (db: Reader, caller: Caller) => {
  const [reach, parameters] = [reachOfAccount(caller), reachParameters(caller)];
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
      'imports.created_at',
      'imports.started_at',
      'imports.finished_at',
    ])
    .where(({ ref }) =>
      caller.admin || caller.staff
        ? belongsToOrganization(reach, ref('imports.organization_id'), parameters)
        : listingWithin(reach, parameters),
    );
};

type ImportRow = Awaited<ReturnType<ReturnType<typeof reachableImports>['executeTakeFirstOrThrow']>>;

/** By what is kept of the options: no text in them can hold this, as its quotes would be escaped. */
const IS_DRY = containsText(sql.ref<string>('imports.options'), '"dryRun":true');

/** The imports that the caller reaches (operation 66). */
export const importList = defineList({
  name: 'imports',
  rows: ({ db, caller }) => reachableImports(db, caller),
  id: 'imports.id',
  organization: 'imports.organization_id',
  filters: {
    state: textsIn('imports.state', { oneOf: IMPORT_STATES }),
    assessmentId: textsIn('assessments.uid'),
    dryRun: { kind: 'flag', where: (_reading, dryRun) => (dryRun ? IS_DRY : sql<SqlBool>`not (${IS_DRY})`) },
  },
  orders: { createdAt: { by: 'imports.created_at', type: 'integer' } },
  // What was skipped, and a preview, may be long.
  piece: 50,
  items: ({ db }, rows) => viewsOf(db, rows),
});

/** @throws Failure `missing` for an import that the caller does not reach */
export async function readImport(db: Reader, caller: Caller, id: number): Promise<ImportView> {
  const row = await reachableImports(db, caller).where('imports.id', '=', id).executeTakeFirst();
  const [view] = row === undefined ? [] : await viewsOf(db, [row]);
  if (view === undefined) throw missing('import');
  return view;
}

async function viewsOf(db: Reader, rows: readonly ImportRow[]): Promise<ImportView[]> {
  const userOf = await nameUsers(
    db,
    rows.map((row) => row.created_by),
  );
  return rows.map((row) => ({
    id: row.id,
    state: row.state,
    format: row.format,
    filename: row.filename,
    size: row.size,
    sha256: row.sha256,
    organizationId: row.organization_id,
    organizationUid: row.organization_uid,
    assessment: row.assessment,
    options: JSON.parse(row.options) as ImportOptions,
    progress: { ...beforeRun(row.size), ...(JSON.parse(row.progress) as Partial<KeptProgress>) },
    skips: JSON.parse(row.skips) as ImportSkip[],
    result: parsed(row.result) as ImportResult | null,
    preview: parsed(row.preview) as ImportPreview | null,
    error: parsed(row.error) as ImportFault | null,
    undone: parsed(row.undone) as ImportUndone | null,
    createdBy: userOf(row.created_by),
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }));
}

const beforeRun = (size: number): KeptProgress => ({
  bytesRead: 0,
  bytesTotal: size,
  hosts: 0,
  ports: 0,
  findings: 0,
  skipped: 0,
  secondsLeft: null,
});

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
