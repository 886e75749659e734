import type { Attribution, Caller } from '../../auth/callers.ts';
import { isAdminOf } from '../../auth/callers.ts';
import type { ReadConnection, Transaction } from '../../db/engine.ts';
import { inList } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { groupBy } from '../shared/group-by.ts';
import { recordEvent } from '../audit/record-event.ts';
import { DomainError, invalidInput, notFound } from '../shared/errors.ts';
import { createFile, releaseFiles, type StoredContent } from '../shared/files.ts';
import { type UserRef, loadUserRefs } from '../shared/user-refs.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { sanitizeFilename, sanitizeMediaType } from './sanitize-attachment.ts';
import { findVisibleVulnerability, lockVulnerability, touchVulnerability } from './lock-vulnerability.ts';
import { recordTimeline } from './timeline.ts';

/** An attachment never changes. */
export const ATTACHMENT_VERSION = 1;

/** A file of a vulnerability. */
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
}

/** A file that somebody sends; the name and the type are theirs. */
export interface NewAttachment {
  filename: string | undefined;
  contentType: string;
  content: StoredContent;
}

interface AttachmentRow {
  vulnerability_id: number;
  id: number;
  filename: string;
  content_type: string;
  file_size: number;
  created_at: number;
  user_id: number | null;
  sha256: string;
}

const selectByVulnerability = prepareQuery<{ ids: readonly number[] }, AttachmentRow>((db, p) =>
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
      'files.sha256',
    ])
    .where((eb) => inList(db, eb.ref('attachments.vulnerability_id'), p.ids))
    .orderBy('attachments.id'),
);

/** @returns the attachments of vulnerabilities, by their ids; what has none is absent */
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
    }),
  );
}

/**
 * Attaches files to a vulnerability, all or none (operation 21).
 * @param max the most attachments that it may have
 * @returns them in their order
 * @throws Failure `missing` for a vulnerability out of reach, `invalid` for more files than it may have
 */
export async function attachFiles(
  tx: Transaction,
  act: Attribution<Caller>,
  vulnerabilityId: number,
  files: readonly NewAttachment[],
  max: number,
): Promise<Attachment[]> {
  const { organization_id: organizationId } = await lockVulnerability(tx, act.actor, vulnerabilityId);
  const { count } = await tx
    .selectFrom('attachments')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('vulnerability_id', '=', vulnerabilityId)
    .executeTakeFirstOrThrow();
  if (count + files.length > max)
    throw invalidInput({
      property: 'file',
      code: 'too-many-attachments',
      params: { max, count },
    });
  return insertAttachments(tx, act, { organizationId, vulnerabilityId }, files);
}

/** The same on a vulnerability that is held, by somebody who may. */
export async function insertAttachments(
  tx: Transaction,
  act: Attribution,
  { organizationId, vulnerabilityId }: { organizationId: number; vulnerabilityId: number },
  files: readonly NewAttachment[],
): Promise<Attachment[]> {
  const userOf = await loadUserRefs(tx, [act.actor.userId]);
  const attachments: Attachment[] = [];
  for (const { filename, contentType, content } of files) {
    const { sha256, size } = content;
    const told = {
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
        user_id: act.actor.userId,
        filename: told.filename,
        content_type: told.contentType,
        file_size: size,
        created_at: act.now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    attachments.push({ id, ...told, sha256, createdAt: act.now, user: userOf(act.actor.userId) });
    await recordEvent(tx, act, {
      action: 'attachment.create',
      object: ['attachment', id],
      organizationId,
      before: null,
      after: attachmentSnapshot(vulnerabilityId, { ...told, sha256 }),
    });
  }
  await touchVulnerability(tx, { id: vulnerabilityId, now: act.now });
  await recordTimeline(tx, act, {
    organizationId,
    vulnerabilityId,
    kind: 'attachment',
    after: { attachments: attachments.map(timelineSnapshot) },
  });
  return attachments;
}

/** An attachment, and where its content is. */
export interface AttachmentContent {
  filename: string;
  contentType: string;
  sha256: string;
  /** Bytes. */
  size: number;
  /** In the store. */
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

/** @throws Failure `missing` for what is out of reach */
export async function findAttachment(
  db: ReadConnection,
  caller: Caller,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
): Promise<AttachmentContent> {
  await findVisibleVulnerability(db, caller, vulnerabilityId);
  const [attachment] = await selectContent(db, { vulnerability: vulnerabilityId, id });
  if (attachment === undefined) throw notFound('attachment');
  return attachment;
}

/**
 * Removes an attachment, and its content with the last that has it.
 * @throws Failure `missing` for what is out of reach, `forbidden` for another's of who is no admin, `changed` for another
 *   version than is expected
 */
export async function deleteAttachment(
  tx: Transaction,
  act: Attribution<Caller>,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
  expected?: ExpectedVersion,
): Promise<void> {
  const { actor: caller, now } = act;
  const { organization_id: organizationId } = await lockVulnerability(tx, caller, vulnerabilityId);
  const attachment = (await loadAttachments(tx, [vulnerabilityId]))
    .get(vulnerabilityId)
    ?.find((one) => one.id === id);
  if (attachment === undefined) throw notFound('attachment');
  const isUploader = attachment.user !== null && attachment.user.id === caller.userId;
  if (!isUploader && !isAdminOf(caller, organizationId))
    throw new DomainError('forbidden', { code: 'attachment-uploader-or-admin-only' });
  requireVersion(expected, ATTACHMENT_VERSION);
  await deleteRows(tx, [id]);
  await touchVulnerability(tx, { id: vulnerabilityId, now });
  await recordTimeline(tx, act, {
    organizationId,
    vulnerabilityId,
    kind: 'attachment',
    before: { attachments: [timelineSnapshot(attachment)] },
  });
  await recordEvent(tx, act, {
    action: 'attachment.delete',
    object: ['attachment', id],
    organizationId,
    before: attachmentSnapshot(vulnerabilityId, attachment),
    after: null,
  });
}

/** Removes all attachments of a vulnerability that is about to be deleted, and the contents that nothing else has. */
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
