import type { Act, Caller } from '../../auth/callers.ts';
import { administers } from '../../auth/callers.ts';
import type { Reader, Transaction } from '../../db/engine.ts';
import { isOneOf } from '../../db/dialect-sql.ts';
import { prepare } from '../../db/prepared-queries.ts';
import { grouped } from '../shared/group-by.ts';
import { recordChange } from '../audit/record-event.ts';
import { Failure, invalid, missing } from '../shared/errors.ts';
import { keepFile, releaseFiles, type StoredContent } from '../shared/files.ts';
import { type NamedUser, nameUsers } from '../users/user-refs.ts';
import { type Expected, requireVersion } from '../shared/versions.ts';
import { cleanFilename, cleanType } from './sanitize-attachment.ts';
import { findVulnerability, holdVulnerability, touchVulnerability } from './lock-vulnerability.ts';
import { recordTimeline } from './timeline.ts';

/** An attachment never changes. */
export const ATTACHMENT_VERSION = 1;

/** A file of a vulnerability. */
export interface StoredAttachment {
  id: number;
  filename: string;
  contentType: string;
  /** Bytes. */
  fileSize: number;
  /** Hex. */
  sha256: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  user: NamedUser | null;
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

const rowsOf = prepare<{ ids: readonly number[] }, AttachmentRow>((db, p) =>
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
    .where((eb) => isOneOf(db, eb.ref('attachments.vulnerability_id'), p.ids))
    .orderBy('attachments.id'),
);

/** @returns the attachments of vulnerabilities, by their ids; what has none is absent */
export async function attachmentsOf(
  db: Reader,
  vulnerabilityIds: readonly number[],
): Promise<ReadonlyMap<number, readonly StoredAttachment[]>> {
  const rows = vulnerabilityIds.length === 0 ? [] : await rowsOf(db, { ids: vulnerabilityIds });
  const userOf = await nameUsers(
    db,
    rows.map((row) => row.user_id),
  );
  return grouped(
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
  act: Act<Caller>,
  vulnerabilityId: number,
  files: readonly NewAttachment[],
  max: number,
): Promise<StoredAttachment[]> {
  const { organization_id: organizationId } = await holdVulnerability(tx, act.actor, vulnerabilityId);
  const { count } = await tx
    .selectFrom('attachments')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('vulnerability_id', '=', vulnerabilityId)
    .executeTakeFirstOrThrow();
  if (count + files.length > max)
    throw invalid({
      property: 'file',
      message: `are too many: a vulnerability has at most ${max} attachments, and this one ${count}`,
    });
  return addAttachments(tx, act, { organizationId, vulnerabilityId }, files);
}

/** The same on a vulnerability that is held, by somebody who may. */
export async function addAttachments(
  tx: Transaction,
  act: Act,
  { organizationId, vulnerabilityId }: { organizationId: number; vulnerabilityId: number },
  files: readonly NewAttachment[],
): Promise<StoredAttachment[]> {
  const userOf = await nameUsers(tx, [act.actor.userId]);
  const attachments: StoredAttachment[] = [];
  for (const { filename, contentType, content } of files) {
    const { sha256, size } = content;
    const told = { filename: cleanFilename(filename), contentType: cleanType(contentType), fileSize: size };
    const { id } = await tx
      .insertInto('attachments')
      .values({
        organization_id: organizationId,
        vulnerability_id: vulnerabilityId,
        file_id: await keepFile(tx, organizationId, content),
        user_id: act.actor.userId,
        filename: told.filename,
        content_type: told.contentType,
        file_size: size,
        created_at: act.now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    attachments.push({ id, ...told, sha256, createdAt: act.now, user: userOf(act.actor.userId) });
    await recordChange(tx, act, {
      action: 'attachment.create',
      object: ['attachment', id],
      organizationId,
      before: null,
      after: eventOf(vulnerabilityId, { ...told, sha256 }),
    });
  }
  await touchVulnerability(tx, { id: vulnerabilityId, now: act.now });
  await recordTimeline(tx, act, {
    organizationId,
    vulnerabilityId,
    kind: 'attachment',
    after: { attachments: attachments.map(entryOf) },
  });
  return attachments;
}

/** An attachment, and where its content is. */
export interface FoundAttachment {
  filename: string;
  contentType: string;
  sha256: string;
  /** Bytes. */
  size: number;
  /** In the store. */
  key: string;
}

const byId = prepare<{ vulnerability: number; id: number }, FoundAttachment>((db, p) =>
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
  db: Reader,
  caller: Caller,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
): Promise<FoundAttachment> {
  await findVulnerability(db, caller, vulnerabilityId);
  const [attachment] = await byId(db, { vulnerability: vulnerabilityId, id });
  if (attachment === undefined) throw missing('attachment');
  return attachment;
}

/**
 * Removes an attachment, and its content with the last that has it.
 * @throws Failure `missing` for what is out of reach, `forbidden` for another's of who is no admin, `changed` for another
 *   version than is expected
 */
export async function deleteAttachment(
  tx: Transaction,
  act: Act<Caller>,
  { vulnerabilityId, id }: { vulnerabilityId: number; id: number },
  expected?: Expected,
): Promise<void> {
  const { actor: caller, now } = act;
  const { organization_id: organizationId } = await holdVulnerability(tx, caller, vulnerabilityId);
  const attachment = (await attachmentsOf(tx, [vulnerabilityId]))
    .get(vulnerabilityId)
    ?.find((one) => one.id === id);
  if (attachment === undefined) throw missing('attachment');
  const isUploader = attachment.user !== null && attachment.user.id === caller.userId;
  if (!isUploader && !administers(caller, organizationId))
    throw new Failure('forbidden', 'An attachment is removed by who uploaded it or an admin.');
  requireVersion(expected, ATTACHMENT_VERSION);
  await deleteRows(tx, [id]);
  await touchVulnerability(tx, { id: vulnerabilityId, now });
  await recordTimeline(tx, act, {
    organizationId,
    vulnerabilityId,
    kind: 'attachment',
    before: { attachments: [entryOf(attachment)] },
  });
  await recordChange(tx, act, {
    action: 'attachment.delete',
    object: ['attachment', id],
    organizationId,
    before: eventOf(vulnerabilityId, attachment),
    after: null,
  });
}

/** Removes all attachments of a vulnerability that is about to be deleted, and the contents that nothing else has. */
export async function deleteAttachmentsOf(tx: Transaction, vulnerabilityId: number): Promise<void> {
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
    .where((eb) => isOneOf(tx, eb.ref('id'), ids))
    .returning('file_id')
    .execute();
  await releaseFiles(tx, [...new Set(deleted.map(({ file_id: file }) => file))]);
}

function entryOf({ id, filename, fileSize }: StoredAttachment): object {
  return { id, filename, file_size: fileSize };
}

function eventOf(
  vulnerability: number,
  {
    filename,
    contentType,
    fileSize,
    sha256,
  }: Pick<StoredAttachment, 'filename' | 'contentType' | 'fileSize' | 'sha256'>,
): object {
  return { vulnerability, filename, content_type: contentType, file_size: fileSize, sha256 };
}
