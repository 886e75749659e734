import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  attachFiles,
  ATTACHMENT_VERSION,
  deleteAttachment,
  findAttachment,
  type NewAttachment,
  type Attachment,
} from '../../domain/vulnerabilities/attachments.ts';
import { requireVisibleVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
import { invalidInput } from '../../domain/shared/errors.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { deleteUnreferenced, storeContent } from '../../files/file-storage.ts';
import { AREAS, publicBaseUrl } from '../../http/areas.ts';
import { matchesEtag } from '../../http/etags.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { Problem } from '../../http/problems.ts';
import { formatContentDisposition, parseRange } from '../../http/ranges.ts';
import { startRequestHash } from '../../http/idempotency.ts';
import { DateTimeSchema, MAX_RESULTS, MAX_TEXT, textSchema } from '../../http/schemas.ts';
import { streamResponse, watchRights } from '../../http/streams.ts';
import { limitFileSize, readUpload } from '../../http/uploads.ts';
import { acquireSlot, CONCURRENCY_LIMITS } from '../../http/account-limits.ts';
import { NullableUserRefSchema, Sha256Schema } from '../common-schemas.ts';
import { idParams, nestedIdParams, V1_ACCESS } from '../v1-params.ts';
import { formatSize } from '../../lib/format-size.ts';

const collection = '/vulnerabilities/:id/attachments';
const path = `${collection}/:attachment_id`;
const VulnerabilityParamsSchema = idParams('The id of a vulnerability.', 1);
const AttachmentParamsSchema = nestedIdParams('attachment_id', 'The id of an attachment.', 1);

const MAX_FILES = 10;
/** Includes ignored parts. */
const MAX_PARTS = 50;
/** Bytes of the body in addition to its files. */
const MAX_OVERHEAD_BYTES = 1024 * 1024;

export const StoredAttachmentSchema = Type.Object(
  {
    id: Type.Integer(),
    filename: textSchema('request.txt'),
    content_type: textSchema('text/plain'),
    file_size: Type.Integer({ description: 'Bytes.', examples: [2048] }),
    created_at: DateTimeSchema,
    sha256: Sha256Schema,
    url: Type.String({
      format: 'uri',
      maxLength: MAX_TEXT,
      description: 'The URL to download the attachment from, with a credential.',
      examples: ['https://assay.example/v1/vulnerabilities/1/attachments/1'],
    }),
    user: NullableUserRefSchema,
    by_staff: Type.Boolean({ description: 'Whether staff uploaded it: then only staff delete it.' }),
  },
  { title: 'Stored attachment' },
);

export function toStoredAttachmentBody(
  context: Pick<Context, 'addresses' | 'config'>,
  vulnerabilityId: number,
  { id, filename, contentType, fileSize, createdAt, sha256, user, byStaff }: Attachment,
): Static<typeof StoredAttachmentSchema> {
  return {
    id,
    filename,
    content_type: contentType,
    file_size: fileSize,
    created_at: formatTimestamp(createdAt),
    sha256,
    url: `${publicBaseUrl(AREAS.v1, context)}/vulnerabilities/${vulnerabilityId}/attachments/${id}`,
    user,
    by_staff: byStaff,
  };
}

const uploadAttachmentsOperation = (context: Context) => {
  const { clock, config, db, log } = context;
  return operation({
    id: 'uploadAttachments',
    number: 21,
    summary: 'Attach files to a vulnerability',
    description: `Attaches 1 to ${MAX_FILES} files; if one is rejected, none is attached. Each file is a part named \`file\` of at most ${formatSize(config.maxAttachmentSize)}; other parts are ignored. A vulnerability can have at most ${config.maxAttachments} attachments. An account can have at most ${CONCURRENCY_LIMITS.upload.perAccount} uploads running; another one returns 429. An upload whose body arrives too slowly returns 408.`,
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityParamsSchema,
    multipart: Type.Object(
      {
        file: Type.Array(
          Type.String({
            format: 'binary',
            maxLength: config.maxAttachmentSize,
            examples: ['GET /search?q=%27 HTTP/1.1'],
          }),
          { minItems: 1, maxItems: MAX_FILES },
        ),
      },
      { title: 'Upload' },
    ),
    responses: {
      201: {
        description: 'The attachments, in the order of their parts.',
        schema: Type.Array(StoredAttachmentSchema, { maxItems: MAX_RESULTS }),
      },
    },
    idempotency: { hashedByHandler: true },
    async handler(request, reply) {
      const { caller, writeOnce, headers, params } = request;
      const { id } = params;
      // Replays are checked too, as they are recognised only once the body has been stored.
      await requireVisibleVulnerability(db.read, caller, id, 'comment');
      const keys: string[] = [];
      try {
        const hash = startRequestHash(request);
        const files: NewAttachment[] = [];
        if (headers['content-type'] === undefined) throw missingFile();
        const parts = readUpload(context, request, reply, {
          maxBytes: MAX_FILES * config.maxAttachmentSize + MAX_OVERHEAD_BYTES,
          maxParts: MAX_PARTS,
        });
        for await (const { name, filename, type, content } of parts) {
          hash.update(JSON.stringify([name, filename ?? null, type]));
          if (name !== 'file') {
            for await (const chunk of content) hash.update(chunk);
            continue;
          }
          if (files.length === MAX_FILES) throw tooManyFiles();
          const stored = await storeContent(
            context,
            limitFileSize(content, config.maxAttachmentSize),
            (key) => keys.push(key),
          );
          hash.update(stored.sha256);
          files.push({ filename, contentType: type, content: stored });
        }
        if (files.length === 0) throw missingFile();
        const by = { actor: caller, now: clock() };
        return await writeOnce(
          async (tx) => {
            const attachments = await attachFiles(tx, by, id, files, config.maxAttachments);
            return attachments.map((attachment) => toStoredAttachmentBody(context, id, attachment));
          },
          { hash: hash.digest('base64url') },
        );
      } finally {
        // Deletes content without an attachment. If this fails, a job deletes it later.
        await deleteUnreferenced(context, keys).catch((err: unknown) =>
          log.warn({ err, requestId: request.id }, 'could not delete the content of a failed upload'),
        );
      }
    },
  });
};

function tooManyFiles(): Problem {
  return new Problem('batch-too-large', `A request can upload at most ${MAX_FILES} files.`, {
    batch: { max: MAX_FILES, size: MAX_FILES + 1 },
    source: 'file',
  });
}

function missingFile(): Error {
  return invalidInput({ property: 'file', code: 'required' });
}

const downloadAttachmentOperation = (context: Context) => {
  const { config, db, files } = context;
  return operation({
    id: 'downloadAttachment',
    number: 22,
    summary: 'Download an attachment',
    description: 'Returns the file, or the part of it that `Range` requests.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: AttachmentParamsSchema,
    responses: {
      200: { description: 'The file.', binary: true, headers: DOWNLOAD_HEADERS },
      206: {
        description: 'The requested range of the file.',
        binary: true,
        headers: {
          ...DOWNLOAD_HEADERS,
          'Content-Range': textHeader('The range returned, and the size of the file.'),
        },
      },
      304: {
        description: 'Not modified: the file matches If-None-Match.',
        headers: { ETag: textHeader('The ETag of the file.') },
      },
    },
    extraErrorStatuses: [416],
    async handler({ caller, headers, isLive, method, params: { id, attachment_id: attachmentId } }, reply) {
      const mayGoOn = await watchRights(db.read, caller, isLive);
      const { filename, contentType, sha256, size, key } = await findAttachment(db.read, caller, {
        vulnerabilityId: id,
        id: attachmentId,
      });
      const tag = `"${ATTACHMENT_VERSION}.${sha256}"`;
      reply.header('etag', tag).header('cache-control', 'private, no-cache');
      if (matchesEtag(headers['if-none-match'], tag)) {
        reply.code(304);
        return undefined;
      }
      // Only GET has ranges (RFC 9110, section 14.2).
      const usesRange =
        method === 'GET' && (headers['if-range'] === undefined || headers['if-range'] === tag);
      const range = usesRange ? parseRange(headers.range, size) : undefined;
      if (range === 'unsatisfiable')
        throw new Problem('range-not-satisfiable', `The file has ${size} bytes.`, {
          headers: { 'content-range': `bytes */${size}` },
        });
      const { start, end } = range ?? { start: 0, end: size - 1 };
      const hasBody = method !== 'HEAD' && size > 0;
      const onEnd = hasBody ? acquireSlot(context, caller, 'attachment') : undefined;
      if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`);
      reply
        .type(contentType)
        .header('accept-ranges', 'bytes')
        .header('content-length', end - start + 1)
        .header('content-disposition', formatContentDisposition(filename))
        .header('content-security-policy', 'sandbox')
        .header('x-content-type-options', 'nosniff');
      if (!hasBody) return Readable.from([]);
      return streamResponse(files.read(key, start, end), {
        timeout: config.requestTimeout,
        isLive: mayGoOn,
        onEnd,
      });
    },
  });
};

const textHeader = (description: string) => ({ type: 'string', maxLength: MAX_TEXT, description });
const DOWNLOAD_HEADERS = {
  ETag: textHeader('Derived from the content of the file.'),
  'Content-Disposition': textHeader('Tells the browser to save the file, and under which name (RFC 6266).'),
  'Accept-Ranges': textHeader('`bytes`: Range is supported.'),
};

const deleteAttachmentOperation = ({ clock }: Context) =>
  operation({
    id: 'deleteAttachment',
    number: 23,
    summary: 'Delete an attachment',
    description:
      'Deletes the attachment, and its content with the last attachment that uses it. Requires its uploader or an admin.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: AttachmentParamsSchema,
    responses: { 204: { description: 'The attachment was deleted.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { id, attachment_id: attachmentId }, write }) =>
      write((tx) =>
        deleteAttachment(
          tx,
          { actor: caller, now: clock() },
          { vulnerabilityId: id, id: attachmentId },
          ifMatch,
        ),
      ),
  });

export default operationsOf('v1', [
  uploadAttachmentsOperation,
  downloadAttachmentOperation,
  deleteAttachmentOperation,
]);
