import { Readable } from 'node:stream';
import type { Context } from '../../context.ts';
import { importList, type ImportView, readImport } from '../../domain/imports/import-list.ts';
import { cancelImport, requestUndo } from '../../domain/imports/cancel-import.ts';
import { IMPORT_VERSION } from '../../domain/imports/start-import.ts';
import { deleteUnreferenced } from '../../files/file-storage.ts';
import { acquireSlot } from '../../http/account-limits.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { streamResponse } from '../../http/streams.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { ImportSchema, toImportBody } from './import-schema.ts';
import { END_EVENT_ID, streamImportEvents } from './import-events.ts';
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
      'Lists the imports of assessments that the caller has access to, newest first. Admins also get imports without an assessment.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: importList,
    filters: {
      state: 'Return only imports in one of these states.',
      assessmentId: 'Return only imports of these assessments.',
      dryRun: 'Return only dry runs, or exclude them. By default, both are returned.',
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
    description:
      'Requires access to the assessment of the import. An import without an assessment requires an admin.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: idParams(ID, 1),
    responses: { 200: { description: 'The current state of the import.', schema: ImportSchema } },
    versioned: true,
    handler: async ({ caller, params: { id } }) => toImportResult(await readImport(db.read, caller, id)),
  });

const followImportOperation = (context: Context) => {
  const { config, db } = context;
  return operation({
    id: 'followImport',
    number: 68,
    summary: 'Stream the progress of an import',
    description:
      'Streams server-sent events: `progress` when the import changes, at most twice a second, and `end`, after which the stream closes. The data of both is the import. A comment is sent after 15 seconds without an event. A client that reconnects with `Last-Event-ID` does not get that event again; after `end` it gets a 204. The stream closes within 15 seconds of the credential becoming invalid, and counts as a download.',
    method: 'GET',
    path: `${path}/events`,
    access: V1_ACCESS,
    params: idParams(ID, 1),
    responses: {
      200: {
        description: 'The event stream.',
        stream: {
          type: EVENT_STREAM,
          example: 'event: progress\nid: 0pYvJmTqYq4A\ndata: {"id":1,"state":"running"}\n\n',
        },
      },
      204: { description: '`Last-Event-ID` is that of the `end` event: nothing follows.' },
    },
    async handler(request, reply) {
      const { caller, headers, isLive, method, params } = request;
      const { id } = params;
      await readImport(db.read, caller, id);
      const lastEventId = headers['last-event-id'];
      if (lastEventId === END_EVENT_ID) {
        reply.code(204);
        return undefined;
      }
      reply
        .type(EVENT_STREAM)
        .header('cache-control', 'no-store')
        // Keeps proxies from buffering the stream.
        .header('x-accel-buffering', 'no');
      if (method === 'HEAD') return Readable.from([]);
      const onEnd = acquireSlot(context, caller, 'download');
      const { closing } = reply.server;
      const events = streamImportEvents({
        read: () => readImport(db.read, caller, id),
        lastEventId: Array.isArray(lastEventId) ? lastEventId[0] : lastEventId,
        isClosing: () => closing?.aborted === true,
      });
      const rules = { timeout: config.requestTimeout, isLive, onEnd, mayBeIdle: true };
      return streamResponse(events, rules);
    },
  });
};

const cancelImportOperation = (context: Context) =>
  operation({
    id: 'cancelImport',
    number: 69,
    summary: 'Cancel an import',
    description:
      'A queued import is cancelled at once, a running one within seconds. What was already applied remains and is reported. Requires the user who started it or an admin. Returns 409 if the import has finished.',
    method: 'POST',
    path: `${path}/cancel`,
    access: V1_ACCESS,
    params: idParams(ID, 1),
    responses: { 202: { description: 'The current state of the import.', schema: ImportSchema } },
    versioned: true,
    async handler({ caller, id: requestId, params: { id }, write }) {
      const { clock, log } = context;
      const by = { actor: caller, now: clock() };
      const { cancelled, unused } = await write((tx) => cancelImport(tx, by, id));
      await deleteUnreferenced(context, unused).catch((err: unknown) =>
        log.warn({ err, requestId }, 'could not delete the file of an import'),
      );
      return toImportResult(cancelled);
    },
  });

const undoImportOperation = ({ clock, jobs }: Context) =>
  operation({
    id: 'undoImport',
    number: 82,
    summary: 'Undo an import',
    description:
      'Leaves the state that the other imports give: deletes the findings, assets and ports that only this import saw, and sets back statuses, texts and gone marks, in whichever order imports are undone. What another import saw or a user changed stays, and so do assets that the token could not delete; `kept` counts those that this import had created or changed. `undone` has the result once the undo has finished. Requires the user who started the import or an admin. Returns 409 if the import has not finished or was already undone.',
    method: 'POST',
    path: `${path}/undo`,
    access: V1_ACCESS,
    params: idParams(ID, 1),
    responses: { 202: { description: 'The current state of the import.', schema: ImportSchema } },
    versioned: true,
    async handler({ caller, params: { id }, write }) {
      const view = await write((tx) => requestUndo(tx, { actor: caller, now: clock() }, id));
      jobs.notify();
      return toImportResult(view);
    },
  });

export default operationsOf('v1', [
  listImportsOperation,
  getImportOperation,
  followImportOperation,
  cancelImportOperation,
  undoImportOperation,
]);

function toImportResult(view: ImportView) {
  return versionedResult(IMPORT_VERSION, toImportBody(view));
}
