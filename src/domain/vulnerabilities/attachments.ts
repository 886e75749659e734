import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { isAdminOf } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { groupBy } from '../shared/group-by.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, limitExceeded, notFound } from '../shared/errors.ts';
import { belongsToStaff } from '../shared/permissions.ts';
import { createFile, releaseFiles, type StoredBlob } from '../shared/files.ts';
import { type UserRef, loadUserRefs } from '../shared/user-refs.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { sanitizeFilename, sanitizeMediaType } from './sanitize-attachment.ts';
import {
  requireVisibleVulnerability,
  lockVulnerability,
  requireVulnerabilityPermission,
  touchVulnerability,
  type VisibleVulnerability,
} from './lock-vulnerability.ts';
import { recordTimeline } from './timeline.ts';

/** An attachment never changes. */
export const ATTACHMENT_VERSION = 1;

export interface Attachment {
  id: number;
  filename: string;
  contentType: string;
  /** Bytes. */
  fileSize: number;
  /** Hex. */
  sha256: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  user: UserRef | null;
  byStaff: boolean;
}

/** An uploaded file, with the name and the type that the client gave it. */
export interface NewAttachment {
  filename: string | undefined;
  contentType: string;
  content: StoredBlob;
}

const selectByVulnerability = prepareQuery((db, p: { ids: readonly number[] }) =>
  db
    .selectFrom('attachments')
    .innerJoin('files', 'files.id', 'attachments.file_id')
    .select([
      'attachments.vulnerability_id',
      'attachments.id',
      'attachments.filename',
      'attachments.content_type',
      'attachments.file_size',
      'attachments.created_at',
      'attachments.user_id',
      'attachments.by_staff',
      'files.sha256',
    ])
    .where((eb) => inList(db, eb.ref('attachments.vulnerability_id'), p.ids))
    .orderBy('attachments.id'),
);

/** @returns attachments by vulnerability id; vulnerabilities without any are absent */
export async function loadAttachments(
  db: ReadConnection,
  vulnerabilityIds: readonly number[],
): Promise<ReadonlyMap<number, readonly Attachment[]>> {
  const rows =
    vulnerabilityIds.length === 0 ? [] : await selectByVulnerability(db, { ids: vulnerabilityIds });
  const userOf = await loadUserRefs(
    db,
    rows.map((row) => row.user_id),
  );
  return groupBy(
    rows,
    (row) => row.vulnerability_id,
    (row) => ({
      id: row.id,
      filename: row.filename,
      contentType: row.content_type,
      fileSize: row.file_size,
      sha256: row.sha256,
      createdAt: row.created_at,
      user: userOf(row.user_id),
      byStaff: row.by_staff === 1,
    }),
  );
}

/**
 * Attaches files to a vulnerability, all or none (operation 21).
 * @param max the most attachments of a vulnerability
 * @returns the attachments in the order of the files
 * @throws DomainError `not-found`, `forbidden` without the role, `limit-exceeded` when the vulnerability would have
 *   more than `max`
 */
export async function attachFiles(
  tx: Transaction,
  by: ChangeContext<Caller>,
  vulnerabilityId: number,
  files: readonly NewAttachment[],
  max: number,
): Promise<Attachment[]> {
  const vulnerability = await lockVulnerability(tx, by.actor, vulnerabilityId, 'comment');
  const { count } = await tx
    .selectFrom('attachments')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('vulnerability_id', '=', vulnerabilityId)
    .executeTakeFirstOrThrow();
  if (count + files.length > max)
    throw limitExceeded({ property: 'file', code: 'too-many-attachments', params: { max, count } });
  return insertAttachments(tx, by, vulnerability, files);
}

async function insertAttachments(
  tx: Transaction,
  by: ChangeContext<Caller>,
  { id: vulnerabilityId, organization_id: organizationId, draft }: VisibleVulnerability,
  files: readonly NewAttachment[],
): Promise<Attachment[]> {
  const userOf = await loadUserRefs(tx, [by.actor.userId]);
  const attachments: Attachment[] = [];
  for (const { filename, contentType, content } of files) {
    const { sha256, size } = content;
    const values = {
      filename: sanitizeFilename(filename),
      contentType: sanitizeMediaType(contentType),
      fileSize: size,
    };
    const { id } = await tx
      .insertInto('attachments')
      .values({
        organization_id: organizationId,
        vulnerability_id: vulnerabilityId,
        file_id: await createFile(tx, organizationId, content),
        user_id: by.actor.userId,
        by_staff: by.actor.staff ? 1 : 0,
        filename: values.filename,
        content_type: values.contentType,
        file_size: size,
        created_at: by.now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    attachments.push({
      id,
      ...values,
      sha256,
      createdAt: by.now,
      user: userOf(by.actor.userId),
      byStaff: by.actor.staff,
    });
    await recordEvent(tx, by, {
      action: 'attachment.create',
      object: ['attachment', id],
      organizationId,
      before: null,
      after: attachmentSnapshot(vulnerabilityId, { ...values, sha256 }),
      internal: draft === 1,
    });
  }
  await touchVulnerability(tx, { id: vulnerabilityId, now: by.now });
  await recordTimeline(tx, by, {
    organizationId,
    vulnerabilityId,
    kind: 'attachment',
    after: { attachments: attachments.map(timelineSnapshot) },
    internal: draft === 1,
  });
  return attachments;
}

export interface AttachmentContent {
  filename: string;
  contentType: string;
  sha256: string;
  /** Bytes. */
  size: number;
  key: string;
}

const selectContent = prepareQuery<{ vulnerability: number; id: number }, AttachmentContent>((db, p) =>
  db
    .selectFrom('attachments')
    .innerJoin('files', 'files.id', 'attachments.file_id')
    .select([
      'attachments.filename',
      'attachments.content_type as contentType',
      'files.sha256',
      'files.size',
      'files.blob_key as key',
    ])
    .where('attachments.id', '=', p.id)
    .where('attachments.vulnerability_id', '=', p.vulnerability),
);

/** @throws DomainError `not-found` */
export async function findAttachment(
  db: ReadConnection,
  caller: Caller,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
): Promise<AttachmentContent> {
  await requireVisibleVulnerability(db, caller, vulnerabilityId);
  const [attachment] = await selectContent(db, { vulnerability: vulnerabilityId, id });
  if (attachment === undefined) throw notFound('attachment');
  return attachment;
}

/**
 * Deletes an attachment, and its content unless another attachment has the same.
 * @throws DomainError `not-found`, `forbidden` unless the caller uploaded it or is an admin, `version-mismatch`
 */
export async function deleteAttachment(
  tx: Transaction,
  by: ChangeContext<Caller>,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
  expected?: ExpectedVersion,
): Promise<void> {
  const { actor: caller, now } = by;
  const vulnerability = await lockVulnerability(tx, caller, vulnerabilityId, undefined);
  const { organization_id: organizationId, draft } = vulnerability;
  const attachment = (await loadAttachments(tx, [vulnerabilityId]))
    .get(vulnerabilityId)
    ?.find((file) => file.id === id);
  if (attachment === undefined) throw notFound('attachment');
  const isUploader = attachment.user !== null && attachment.user.id === caller.userId;
  if (!isUploader && !isAdminOf(caller, organizationId))
    throw new DomainError('attachment-uploader-or-admin-only');
  requireVulnerabilityPermission(caller, vulnerability, 'comment');
  if (belongsToStaff(caller, attachment.byStaff ? 1 : 0)) throw new DomainError('staff-attachment');
  requireVersion(expected, ATTACHMENT_VERSION);
  await deleteRows(tx, [id]);
  await touchVulnerability(tx, { id: vulnerabilityId, now });
  await recordTimeline(tx, by, {
    organizationId,
    vulnerabilityId,
    kind: 'attachment',
    before: { attachments: [timelineSnapshot(attachment)] },
    internal: draft === 1,
  });
  await recordEvent(tx, by, {
    action: 'attachment.delete',
    object: ['attachment', id],
    organizationId,
    before: attachmentSnapshot(vulnerabilityId, attachment),
    after: null,
    internal: draft === 1,
  });
}

/** Deletes all attachments of a vulnerability, and their contents unless other attachments have them. */
export async function deleteAllAttachments(tx: Transaction, vulnerabilityId: number): Promise<void> {
  const rows = await tx
    .selectFrom('attachments')
    .select('id')
    .where('vulnerability_id', '=', vulnerabilityId)
    .execute();
  await deleteRows(
    tx,
    rows.map(({ id }) => id),
  );
}

async function deleteRows(tx: Transaction, ids: readonly number[]): Promise<void> {
  const deleted = await tx
    .deleteFrom('attachments')
    .where((eb) => inList(tx, eb.ref('id'), ids))
    .returning('file_id')
    .execute();
  await releaseFiles(tx, [...new Set(deleted.map(({ file_id: file }) => file))]);
}

function timelineSnapshot({ id, filename, fileSize }: Attachment): object {
  return { id, filename, file_size: fileSize };
}

function attachmentSnapshot(
  vulnerability: number,
  {
    filename,
    contentType,
    fileSize,
    sha256,
  }: Pick<Attachment, 'filename' | 'contentType' | 'fileSize' | 'sha256'>,
): object {
  return { vulnerability, filename, content_type: contentType, file_size: fileSize, sha256 };
}
