import { Readable } from 'node:stream';
import type { Context } from '../../runtime/context.ts';
import { importList, type ImportView, readImport } from '../../domain/imports/import-list.ts';
import { cancelImport, IMPORT_VERSION, requestUndo } from '../../domain/imports/start-import.ts';
import { deleteUnreferenced } from '../../files/file-storage.ts';
import { acquireDownloadSlot } from '../../http/lists/download.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { streamResponse } from '../../http/streams.ts';
import { versionedResult } from '../../http/etags.ts';
import { ImportSchema, toImportBody } from './import-schema.ts';
import { END_EVENT_ID, streamImportEvents } from './import-events.ts';
import { startImportOperation } from './start-import.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';

const collection = '/imports';
const path = `${collection}/:id`;
const ID = 'The id of an import.';
const EVENT_STREAM = 'text/event-stream';

const listImportsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listImports',
    number: 66,
    summary: 'List imports',
    description:
      'Those of the assessments that you have access to, and for admins those without one, newest first.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: importList,
    filters: {
      state: 'In one of these states.',
      assessmentId: 'Of these assessments.',
      dryRun: 'Only dry runs, or none of them; both unless told.',
    },
    defaultSort: { sort: 'createdAt', descending: true },
    schema: ImportSchema,
    toRow: toImportBody,
  });

const getImportOperation = ({ db }: Context) =>
  operation({
    id: 'getImport',
    number: 67,
    summary: 'Get an import',
    description: 'For whoever has access to its assessment; one without an assessment is for admins.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: idParams(ID, 1),
    responses: { 200: { description: 'The import as it is now.', schema: ImportSchema } },
    versioned: true,
    handler: async ({ caller, params: { id } }) => toImportResult(await readImport(db.read, caller, id)),
  });

const followImportOperation = (context: Context) => {
  const { config, db } = context;
  return operation({
    id: 'followImport',
    number: 68,
    summary: 'Follow an import',
    description:
      'Server-sent events: `progress`, at most twice a second and when something changed, and `end`, after which the answer ends; the data of both is the import. A comment comes every 15 seconds without one. Who comes again with `Last-Event-ID` is not told again what they have, and after `end` gets a 204. It ends within 15 seconds of its credential, and counts as a download.',
    method: 'GET',
    path: `${path}/events`,
    access: V1_ACCESS,
    params: idParams(ID, 1),
    responses: {
      200: {
        description: 'The events, as they come.',
        stream: {
          type: EVENT_STREAM,
          example: 'event: progress\nid: 0pYvJmTqYq4A\ndata: {"id":1,"state":"running"}\n\n',
        },
      },
      204: { description: 'Last-Event-ID is that of the end: there is nothing more.' },
    },
    async handler(request, reply) {
      const { caller, headers, isLive, method, params } = request;
      const { id } = params;
      await readImport(db.read, caller, id);
      const lastEventId = headers['last-event-id'];
      if (lastEventId === END_EVENT_ID) {
        reply.code(204);
        return undefined as never;
      }
      reply
        .type(EVENT_STREAM)
        .header('cache-control', 'no-store')
        // A proxy that collects an answer before it hands it on would hand on nothing.
        .header('x-accel-buffering', 'no');
      if (method === 'HEAD') return Readable.from([]) as never;
      const onEnd = acquireDownloadSlot(context, String(caller.userId));
      const { closing } = reply.server;
      const events = streamImportEvents({
        read: () => readImport(db.read, caller, id),
        lastEventId: Array.isArray(lastEventId) ? lastEventId[0] : lastEventId,
        isClosing: () => closing?.aborted === true,
      });
      const rules = { timeout: config.requestTimeout, isLive, onEnd, isQuiet: true };
      return streamResponse(events, rules) as never;
    },
  });
};

const cancelImportOperation = (context: Context) =>
  operation({
    id: 'cancelImport',
    number: 69,
    summary: 'Cancel an import',
    description:
      'One that waits ends at once, one that runs within seconds. What was applied stays and is told. For who started it and admins; 409 for one that has ended.',
    method: 'POST',
    path: `${path}/cancel`,
    access: V1_ACCESS,
    params: idParams(ID, 1),
    responses: { 202: { description: 'The import as it is now.', schema: ImportSchema } },
    versioned: true,
    async handler({ caller, id: requestId, params: { id } }) {
      const { clock, db, log } = context;
      const act = { actor: caller, now: clock() };
      const { cancelled, unused } = await db.write((tx) => cancelImport(tx, act, id));
      await deleteUnreferenced(context, unused).catch((err: unknown) =>
        log.warn({ err, requestId }, 'the file of an import was not cleared away'),
      );
      return toImportResult(cancelled);
    },
  });

const undoImportOperation = ({ clock, db, jobs }: Context) =>
  operation({
    id: 'undoImport',
    number: 82,
    summary: 'Undo an import',
    description:
      'Takes away what it alone made and sets back the statuses that it set, where no person and no other import came after it; ports stay. `undone` tells how much, once it is done. For who started it and admins; 409 before it has ended, and twice.',
    method: 'POST',
    path: `${path}/undo`,
    access: V1_ACCESS,
    params: idParams(ID, 1),
    responses: { 202: { description: 'The import as it is now.', schema: ImportSchema } },
    versioned: true,
    async handler({ caller, params: { id } }) {
      const view = await db.write((tx) => requestUndo(tx, { actor: caller, now: clock() }, id));
      jobs.notify();
      return toImportResult(view);
    },
  });

export const IMPORT_OPERATIONS = [
  startImportOperation,
  listImportsOperation,
  getImportOperation,
  followImportOperation,
  cancelImportOperation,
  undoImportOperation,
];

function toImportResult(view: ImportView) {
  return versionedResult(IMPORT_VERSION, toImportBody(view));
}
