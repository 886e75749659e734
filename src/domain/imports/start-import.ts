import type { ChangeContext, Caller } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { lockAssessment, type VisibleAssessment, requireAssessment } from '../assessments/find-assessment.ts';
import { selectOrganization } from '../organizations/select-organization.ts';
import { recordEvent } from '../audit/record-event.ts';
import { type CallerRoles, permissionError, requirePermission } from '../shared/permissions.ts';
import type { DraftPolicy } from '../assessments/assessments.ts';
import { beginsAsDraft } from '../vulnerabilities/drafts.ts';
import { requireCanDismiss } from '../vulnerabilities/status-permissions.ts';
import { ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import { canWriteListing } from '../assessments/update-listing.ts';
import { DomainError, invalidInput } from '../shared/errors.ts';
import { retainBlob, type StoredBlob } from '../shared/files.ts';
import { addJob, lockJobKind } from '../shared/jobs.ts';
import { sanitizeFilename } from '../vulnerabilities/sanitize-attachment.ts';
import type { ImportOptions } from './import-types.ts';
import { type ImportView, readImport } from './import-list.ts';
import { importAssetScopes } from './import-permissions.ts';
import { importJobKey, IMPORT_JOB, serializeCaller } from './import-lifecycle.ts';

/** Clients cannot change an import, so its version is constant. */
export const IMPORT_VERSION = 1;

/** Limit of queued imports per organization. */
const MAX_QUEUED_IMPORTS = 20;

/** The uids of the target of an import. */
export interface ImportTarget {
  assessment?: string | undefined;
  organization?: string | undefined;
}

interface ResolvedTarget extends CallerRoles {
  organizationId: number;
  assessment: { id: number; uid: string; drafts: DraftPolicy } | null;
}

export interface NewImport extends ImportTarget {
  format: { name: string; hasFindings: boolean };
  filename: string | undefined;
  content: StoredBlob;
  options: ImportOptions;
}

/**
 * Checks that the caller may import into a target, before the file is read.
 * @returns a check of the format of the report, once it is known
 * @throws DomainError `forbidden` if a caller who is not an admin names no assessment or has no role to import into it,
 *   `invalid` for a target that the caller cannot see
 */
export async function requireImportPermission(
  db: ReadConnection,
  caller: Caller,
  target: ImportTarget,
  options: ImportOptions,
): Promise<(format: NewImport['format']) => void> {
  const resolved = await resolveTarget(caller, target, db, requireAssessment);
  if (options.listAssets === true) await requireListingPermission(db, caller, resolved);
  return (format) => requireFormatPermission(caller, target, resolved, format);
}

/**
 * @param format of the report
 * @throws DomainError `invalid` for findings without an assessment, `forbidden` for findings without the role to report
 *   them, and for hosts without a scope that writes assets
 */
function requireFormatPermission(
  caller: Caller,
  target: ImportTarget,
  resolved: ResolvedTarget,
  { name, hasFindings }: NewImport['format'],
): void {
  if (hasFindings) requirePermission(caller, resolved.organizationId, resolved, 'report');
  if (hasFindings && target.assessment === undefined)
    throw invalidInput({ property: 'assessment', code: 'assessment-required', params: { format: name } });
  const scopes = importAssetScopes(target.assessment !== undefined);
  if (!hasFindings && !scopes.some((scope) => caller.scopes.has(scope)))
    throw new DomainError('import-lacks-asset-scope', { scopes });
}

/**
 * @throws DomainError `invalid` without an assessment, `forbidden` if the caller may not add assets to its listing, as in
 *   operation 11
 */
async function requireListingPermission(
  db: ReadConnection,
  caller: Caller,
  { assessment }: ResolvedTarget,
): Promise<void> {
  if (assessment === null)
    throw invalidInput({ property: 'assessment', code: 'assessment-required-to-list' });
  if (!ASSET_WRITE_SCOPES.some((scope) => caller.scopes.has(scope)))
    throw new DomainError('list-assets-lacks-asset-scope', { scopes: ASSET_WRITE_SCOPES });
  if (!(await canWriteListing(db, caller, assessment.id))) throw permissionError('write_assets');
}

async function resolveTarget<D extends ReadConnection>(
  caller: Caller,
  { assessment: uid, organization }: ImportTarget,
  db: D,
  find: (db: D, caller: Caller, uid: string) => Promise<VisibleAssessment>,
): Promise<ResolvedTarget> {
  if (uid === undefined) {
    if (!caller.admin && !caller.staff) throw new DomainError('import-without-assessment-admins-only');
    const { id } = await selectOrganization(db, caller, { uid: organization });
    return { organizationId: id, assessment: null, roleByName: null, roleByGroup: null };
  }
  const assessment = await find(db, caller, uid).catch((error: unknown) => {
    if (!(error instanceof DomainError && error.kind === 'not-found')) throw error;
    throw invalidInput({ property: 'assessment', code: 'inaccessible-assessment', value: uid });
  });
  const { organizationId } = assessment;
  if (organization !== undefined) {
    const requested = await selectOrganization(db, caller, { uid: organization });
    if (requested.id !== organizationId)
      throw invalidInput({
        property: 'organization',
        code: 'not-organization-of-assessment',
        value: organization,
      });
  }
  const { id, roleByName, roleByGroup } = assessment;
  requirePermission(caller, organizationId, assessment, 'import_hosts');
  const { drafts } = assessment;
  return { organizationId, assessment: { id, uid: assessment.uid, drafts }, roleByName, roleByGroup };
}

/** @returns an unused id; those of dry runs begin above a billion, so that imports have no gaps (ADR 99) */
export async function nextImportId(tx: Transaction, isDryRun: boolean): Promise<number> {
  const { last_id: id } = await tx
    .updateTable('import_numbers')
    .set((eb) => ({ last_id: eb('last_id', '+', 1) }))
    .where('dry_run', '=', isDryRun ? 1 : 0)
    .returning('last_id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Queues an import of a stored file (operation 65).
 * @throws DomainError as `requireImportPermission` and its check do, `forbidden` for carried decisions that the caller
 *   may not make, and for a `draft` that the caller may not ask for, `conflict` if the organization has too many queued
 *   imports; the file is not retained then
 */
export async function startImport(
  tx: Transaction,
  by: ChangeContext<Caller>,
  { format, filename, content, options, ...target }: NewImport,
): Promise<ImportView> {
  const { actor: caller, now } = by;
  const resolved = await resolveTarget(caller, target, tx, lockAssessment);
  if (options.listAssets === true) await requireListingPermission(tx, caller, resolved);
  requireFormatPermission(caller, target, resolved, format);
  const { organizationId, assessment } = resolved;
  const isDraft = beginsAsDraft(caller, assessment?.drafts ?? 'off', options.draft);
  const draft = isDraft && format.hasFindings;
  if (options.carry) await requireCanDismiss(tx, caller, organizationId, [resolved]);
  // Serializes transactions that count queued imports.
  await lockJobKind(tx, IMPORT_JOB);
  const { count } = await tx
    .selectFrom('imports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', '=', 'queued')
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  if (count >= MAX_QUEUED_IMPORTS) throw new DomainError('too-many-imports', { max: MAX_QUEUED_IMPORTS });
  const id = await nextImportId(tx, options.dryRun);
  await tx
    .insertInto('imports')
    .values({
      id,
      organization_id: organizationId,
      assessment_id: assessment?.id ?? null,
      created_by: caller.userId,
      by_staff: caller.staff ? 1 : 0,
      format: format.name,
      filename: sanitizeFilename(filename),
      size: content.size,
      sha256: content.sha256,
      blob_key: content.key,
      options: JSON.stringify({ ...options, draft }),
      hides_findings: draft ? 1 : 0,
      started_by_caller: serializeCaller(caller),
      result: null,
      preview: null,
      error: null,
      undone: null,
      report_at: null,
      created_at: now,
      started_at: null,
      finished_at: null,
    })
    .execute();
  await retainBlob(tx, content.key);
  await addJob(tx, IMPORT_JOB, { import: id }, now, undefined, importJobKey(id));
  const view = await readImport(tx, caller, id);
  const { filename: name, size, sha256, assessment: uid } = view;
  await recordEvent(tx, by, {
    action: 'import.start',
    object: ['import', id],
    organizationId,
    before: null,
    // Customers read this too, and do not learn of drafts.
    after: {
      assessment: uid,
      format: format.name,
      file: { filename: name, size, sha256 },
      options: { ...options, draft: undefined },
    },
  });
  return view;
}
