import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import type { Caller } from '../../auth/callers.ts';
import type { ExportAction } from '../../domain/audit/actions.ts';
import { recordExport } from '../../domain/audit/record-event.ts';
import type { List, ListRequest } from '../../domain/lists/list.ts';
import type { Filters, ListContext } from '../../domain/lists/filters.ts';
import { readBatches } from '../../domain/lists/read-batches.ts';
import type { Context } from '../../context.ts';
import { acquireSlot, reserveMemory } from '../account-limits.ts';
import { COMPRESSOR_MEMORY } from '../compression.ts';
import { streamResponse, watchRights } from '../streams.ts';
import { streamCsv, streamNdjson } from './row-serializers.ts';

/** Media types of lists that can be downloaded, the default first. */
export const LIST_MEDIA_TYPES = ['application/json', 'text/csv', 'application/x-ndjson'] as const;
export type ListMediaType = (typeof LIST_MEDIA_TYPES)[number];

/** Bytes of memory per download: a small part of the share of its account, because a download may take long. */
const DOWNLOAD_MEMORY = 2 * 1024 * 1024 + COMPRESSOR_MEMORY;

export function withCharset(type: ListMediaType): string {
  return `${type}; charset=utf-8`;
}

/** @returns JSON unless the request prefers another type */
export function negotiateMediaType(accept: string | undefined): ListMediaType {
  const preferred = new Negotiator({ headers: { accept } }).mediaType(LIST_MEDIA_TYPES.map(withCharset));
  return LIST_MEDIA_TYPES.find((type) => withCharset(type) === preferred) ?? 'application/json';
}

interface DownloadRequest<Item, F extends Filters, O extends string> {
  list: List<Item, F, O>;
  listContext: ListContext;
  listRequest: ListRequest<F, O>;
  toRow(item: Item): object;
  type: ListMediaType;
  columns: readonly string[];
  /** The filename without its extension. */
  filename: string;
  /** Replaces the sort of the request. */
  sort?: { sort: O; descending?: boolean };
  action: ExportAction;
  filters: object;
}

type DownloadSource = Pick<FastifyRequest, 'abortState' | 'isLive' | 'method'> & { caller: Caller };

/**
 * Streams a whole list as CSV or NDJSON, and records the export in the audit log.
 * @throws Problem `rate-limited` at the limit of the account or of its organization
 */
export async function sendDownload<Item, F extends Filters, O extends string>(
  context: Context,
  request: DownloadSource,
  reply: FastifyReply,
  download: DownloadRequest<Item, F, O>,
): Promise<Readable> {
  const { abortState: signal, method, caller, isLive } = request;
  const { list, listContext, listRequest, toRow, type, columns, filename, action, filters } = download;
  const { sort, descending = false } = download.sort ?? listRequest;
  const extension = type === 'text/csv' ? 'csv' : 'ndjson';
  const sendFile = (file: Readable): Readable => {
    reply
      .type(withCharset(type))
      .header('content-disposition', `attachment; filename="${filename}.${extension}"`);
    return file;
  };
  if (method === 'HEAD') return sendFile(Readable.from([]));
  const onEnd = acquireSlot(context, caller, 'download');
  try {
    await reserveMemory(context, request, reply, DOWNLOAD_MEMORY);
    const by = { actor: caller, now: listContext.now };
    await context.db.write((tx) => recordExport(tx, by, action, { type, filters }), { signal });
    const batches = readBatches(
      list,
      { ...listContext, db: context.db.abortableRead(signal) },
      { ...listRequest, sort, descending },
      0,
      Infinity,
    );
    const mayGoOn = await watchRights(context.db.read, caller, isLive);
    const lines = type === 'text/csv' ? streamCsv(batches, toRow, columns) : streamNdjson(batches, toRow);
    return sendFile(
      streamResponse(lines, { timeout: context.config.requestTimeout, isLive: mayGoOn, onEnd }),
    );
  } catch (error) {
    onEnd();
    throw error;
  }
}
