import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import {
  attachFiles,
  ATTACHMENT_VERSION,
  deleteAttachment,
  findAttachment,
  type NewAttachment,
  type StoredAttachment,
} from '../../domain/vulnerabilities/attachments.ts';
import { findVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
import { invalid } from '../../domain/shared/errors.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { discardContents, storeContent } from '../../files/file-storage.ts';
import { AREAS, publicAddress } from '../../http/areas.ts';
import { isKnown } from '../../http/entity-tags.ts';
import { readParts } from '../../http/multipart.ts';
import { operation } from '../../http/operation.ts';
import { Problem } from '../../http/problems.ts';
import { attachmentDisposition, readRange } from '../../http/ranges.ts';
import { requestHash } from '../../http/idempotency.ts';
import { DateTime, MAX_RESULTS, MAX_TEXT, storedText } from '../../http/schemas.ts';
import { streamAnswer } from '../../http/streams.ts';
import { NamedUserOrNull } from '../v1/named-users.ts';
import { idPath, innerPath, V1_ACCESS } from '../v1-params.ts';

const collection = '/vulnerabilities/:id/attachments';
const path = `${collection}/:attachment_id`;
const VulnerabilityPath = idPath('The id of a vulnerability.', 1);
const AttachmentPath = innerPath('attachment_id', 'The id of an attachment.', 1);

const MAX_FILES = 10;
/** Those that are ignored count as well. */
const MAX_PARTS = 50;
/** Bytes of a body beside the files that it may have. */
const AROUND_FILES = 1024 * 1024;

export const StoredAttachmentBody = Type.Object(
  {
    id: Type.Integer(),
    filename: storedText('request.txt'),
    content_type: storedText('text/plain'),
    file_size: Type.Integer({ description: 'Bytes.', examples: [2048] }),
    created_at: DateTime,
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      maxLength: 64,
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    url: Type.String({
      maxLength: MAX_TEXT,
      description: 'Where it is downloaded, with a credential.',
      examples: ['https://assay.example/v1/vulnerabilities/1/attachments/1'],
    }),
    user: NamedUserOrNull,
  },
  { title: 'Stored attachment' },
);

/** @returns an attachment as its readers are told of it */
export function storedAttachmentBody(
  context: Pick<Context, 'addresses' | 'config'>,
  vulnerabilityId: number,
  { id, filename, contentType, fileSize, createdAt, sha256, user }: StoredAttachment,
): Static<typeof StoredAttachmentBody> {
  return {
    id,
    filename,
    content_type: contentType,
    file_size: fileSize,
    created_at: isoTime(createdAt),
    sha256,
    url: `${publicAddress(AREAS.v1, context)}/vulnerabilities/${vulnerabilityId}/attachments/${id}`,
    user,
  };
}

const declareUploadAttachments = (context: Context) => {
  const { clock, config, db, log } = context;
  return operation({
    id: 'uploadAttachments',
    number: 21,
    summary: 'Attach files to a vulnerability',
    description: `Attaches 1 to ${MAX_FILES} files, all or none: each a part named \`file\`, of at most ${config.maxAttachmentSize} bytes. Other parts are ignored. A vulnerability has at most ${config.maxAttachments} attachments.`,
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityPath,
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
    answers: {
      201: {
        description: 'The attachments, in the order of their parts.',
        schema: Type.Array(StoredAttachmentBody, { maxItems: MAX_RESULTS }),
      },
    },
    repeats: { hashesItself: true },
    async handler(request, reply) {
      const { caller, change, headers, params, raw } = request;
      const { id } = params;
      // A repeat is answered as it was, and whether it is one is known at its end.
      if (headers['idempotency-key'] === undefined) await findVulnerability(db.read, caller, id);
      const keys: string[] = [];
      try {
        const hash = requestHash(request);
        const files: NewAttachment[] = [];
        const parts = readParts(raw, headers['content-type'] ?? '', {
          maxBytes: MAX_FILES * config.maxAttachmentSize + AROUND_FILES,
          maxParts: MAX_PARTS,
          answer: reply.raw,
          onBytes: () => reply.server.postponeDeadline?.(reply),
        });
        if (headers['content-type'] === undefined) throw noFiles();
        for await (const { name, filename, type, content } of parts) {
          hash.update(JSON.stringify([name, filename ?? null, type]));
          if (name !== 'file') {
            for await (const piece of content) hash.update(piece);
            continue;
          }
          if (files.length === MAX_FILES) throw tooMany();
          const stored = await storeContent(context, upTo(config.maxAttachmentSize, content), (key) =>
            keys.push(key),
          );
          hash.update(stored.sha256);
          files.push({ filename, contentType: type, content: stored });
        }
        if (files.length === 0) throw noFiles();
        const act = { actor: caller, now: clock() };
        return await change(
          async (tx) => {
            const attachments = await attachFiles(tx, act, id, files, config.maxAttachments);
            return attachments.map((attachment) => storedAttachmentBody(context, id, attachment));
          },
          { hash: hash.digest('base64url') },
        );
      } finally {
        // What is not kept now will not be; should this fail, a job does it later.
        await discardContents(context, keys).catch((err: unknown) =>
          log.warn({ err, requestId: request.id }, 'an upload was not cleared away'),
        );
      }
    },
  });
};

async function* upTo(max: number, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > max)
      throw new Problem('body-too-large', `A file has more than ${max} bytes, which is the limit.`, {
        source: 'file',
      });
    yield piece;
  }
}

function tooMany(): Problem {
  return new Problem('batch-too-large', `At most ${MAX_FILES} files are taken at once.`, {
    batch: { max: MAX_FILES, size: MAX_FILES + 1 },
    source: 'file',
  });
}

function noFiles(): Error {
  return invalid({ property: 'file', message: 'is required' });
}

const declareDownloadAttachment = (context: Context) => {
  const { config, db, files } = context;
  return operation({
    id: 'downloadAttachment',
    number: 22,
    summary: 'Download an attachment',
    description: 'The file, or with `Range` a part of it.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: AttachmentPath,
    answers: {
      200: { description: 'The file.', binary: true, headers: DOWNLOAD_HEADERS },
      206: {
        description: 'The part of it that Range asks for.',
        binary: true,
        headers: { ...DOWNLOAD_HEADERS, 'Content-Range': text('Which bytes these are, and of how many.') },
      },
      304: { description: 'If-None-Match has it already.', headers: { ETag: text('As of the file.') } },
    },
    refusals: [416],
    async handler({ caller, headers, isLive, method, params: { id, attachment_id: attachmentId } }, reply) {
      const { filename, contentType, sha256, size, key } = await findAttachment(db.read, caller, {
        vulnerabilityId: id,
        id: attachmentId,
      });
      const tag = `"${ATTACHMENT_VERSION}.${sha256}"`;
      reply.header('etag', tag).header('cache-control', 'private, no-cache');
      if (isKnown(headers['if-none-match'], tag)) {
        reply.code(304);
        return undefined as never;
      }
      const isSame = headers['if-range'] === undefined || headers['if-range'] === tag;
      const range = isSame ? readRange(headers.range, size) : undefined;
      if (range === 'unsatisfiable')
        throw new Problem('range-not-satisfiable', `The file has ${size} bytes.`, {
          headers: { 'content-range': `bytes */${size}` },
        });
      const { start, end } = range ?? { start: 0, end: size - 1 };
      if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`);
      reply
        .type(contentType)
        .header('accept-ranges', 'bytes')
        .header('content-length', end - start + 1)
        .header('content-disposition', attachmentDisposition(filename))
        .header('content-security-policy', 'sandbox')
        .header('x-content-type-options', 'nosniff');
      if (method === 'HEAD' || size === 0) return Readable.from([]) as never;
      return streamAnswer(files.read(key, start, end), { timeout: config.requestTimeout, isLive }) as never;
    },
  });
};

const text = (description: string) => ({ type: 'string', maxLength: MAX_TEXT, description });
const DOWNLOAD_HEADERS = {
  ETag: text('It follows from the content.'),
  'Content-Disposition': text('That it is to be saved, and under which name (RFC 6266).'),
  'Accept-Ranges': text('That Range is understood.'),
};

const declareDeleteAttachment = ({ clock, db }: Context) =>
  operation({
    id: 'deleteAttachment',
    number: 23,
    summary: 'Delete an attachment',
    description:
      'Deletes an attachment, and its content with the last that has it. For its uploader and admins.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: AttachmentPath,
    answers: { 204: { description: 'The attachment is deleted.' } },
    versioned: true,
    handler: ({ caller, expected, params: { id, attachment_id: attachmentId } }) =>
      db.write((tx) =>
        deleteAttachment(
          tx,
          { actor: caller, now: clock() },
          { vulnerabilityId: id, id: attachmentId },
          expected,
        ),
      ),
  });

export const ATTACHMENT_OPERATIONS = [
  declareUploadAttachments,
  declareDownloadAttachment,
  declareDeleteAttachment,
];
