import type { Context } from '../../runtime/context.ts';
import {
  IMPORT_VERSION,
  requireFormat,
  requireImporter,
  startImport,
} from '../../domain/imports/start-import.ts';
import { invalid } from '../../domain/shared/errors.ts';
import { discardContents, storeContent } from '../../files/file-storage.ts';
import { type Part, readParts } from '../../http/multipart.ts';
import { operation } from '../../http/operation.ts';
import { Problem } from '../../http/problems.ts';
import { requestHash } from '../../http/idempotency.ts';
import { LocationHeader, versioned } from '../../http/etags.ts';
import { FORMATS } from '../../importers/formats/index.ts';
import { recognising, sampleOf } from '../../importers/detect-format.ts';
import { unpack } from '../../importers/parsing/decompress.ts';
import { type Format, ReportError, type ReportSource } from '../../importers/report.ts';
import { ImportBody, importBody } from './import-schema.ts';
import { importForm, isField, readImportForm } from './import-fields.ts';
import { V1_ACCESS } from '../v1-params.ts';

/** Bytes of a body beside the file that it may have, and its parts. */
const AROUND_FILE = 8 * 1024 * 1024;
const MAX_PARTS = 2_100;
/** Bytes of a field, whose texts have at most as many characters. */
const [MAX_FIELD, MAX_CHARACTERS] = [256 * 1024, 65_536];
/** Bytes of a file, packed or not, that hold the first MiB of the report: what cannot be packed grows a little. */
const HEAD = 1024 * 1024 + 64 * 1024;

export const declareStartImport = (context: Context) => {
  const { clock, config, db, jobs, log } = context;
  return operation({
    id: 'startImport',
    number: 65,
    summary: 'Import a report',
    description: `Takes a report of at most ${config.maxImportSize} bytes, which is applied by a job. The file is the last part; \`targets\` and \`tags\` are a field each, repeated. A report of findings needs an assessment that you have access to; one of hosts without an assessment is for admins, and needs a scope that writes assets. A report that is not recognised by what is in its first MiB, an unknown field and a part behind the file are a 422, and nothing is queued. At most 20 of an organization wait (409).`,
    method: 'POST',
    path: '/imports',
    access: V1_ACCESS,
    multipart: importForm(config.maxImportSize),
    inputs: { assessment: 'assessment_id', organization: 'organization_uid' },
    answers: {
      202: { description: 'The import waits.', schema: ImportBody, headers: { Location: LocationHeader } },
    },
    versioned: true,
    repeats: { hashesItself: true },
    async handler(request, reply) {
      const { caller, change, headers, raw } = request;
      // A repeat is answered as it was, and whether it is one is known at its end.
      const mayBeRepeat = headers['idempotency-key'] !== undefined;
      const keys: string[] = [];
      try {
        if (headers['content-type'] === undefined) throw noFile();
        const hash = requestHash(request);
        const parts = readParts(raw, headers['content-type'], {
          maxBytes: config.maxImportSize + AROUND_FILE,
          maxParts: MAX_PARTS,
          answer: reply.raw,
          onBytes: () => reply.server.postponeDeadline?.(reply),
        });
        const fields = new Map<string, string[]>();
        let upload: Omit<Parameters<typeof startImport>[2], 'assessment' | 'organization'> | undefined;
        let place: Pick<Parameters<typeof startImport>[2], 'assessment' | 'organization'> = {};
        for await (const part of parts) {
          const { name, filename, type, content } = part;
          hash.update(JSON.stringify([name, filename ?? null, type]));
          if (upload !== undefined)
            throw invalid({
              property: name,
              message: 'comes behind the file, which has to be the last part',
            });
          if (name !== 'file') {
            if (!isField(name)) throw invalid({ property: name, message: 'is no field of an import' });
            const text = await readField(part);
            hash.update(JSON.stringify(text));
            fields.set(name, [...(fields.get(name) ?? []), text]);
            continue;
          }
          const form = readImportForm(fields, clock());
          place = form.place;
          if (!mayBeRepeat) await requireImporter(db.read, caller, place);
          let format: Format | undefined;
          const watched = watchHead(upTo(config.maxImportSize, content), async (head, isWhole) => {
            format = await formatOf(form.format, head, isWhole);
            if (!mayBeRepeat) requireFormat(caller, place, format);
          });
          const stored = await storeContent(context, watched, (key) => keys.push(key));
          hash.update(stored.sha256);
          if (format === undefined) throw new Error('A report was stored that nobody looked at.');
          upload = { format, filename, content: stored, options: form.options };
        }
        if (upload === undefined) {
          readImportForm(fields, clock());
          throw noFile();
        }
        const wanted = { ...upload, ...place };
        const answer = await change(
          async (tx) => {
            const view = await startImport(tx, { actor: caller, now: clock() }, wanted);
            return versioned(IMPORT_VERSION, importBody(view), { location: `/imports/${view.id}` });
          },
          { hash: hash.digest('base64url') },
        );
        jobs.added();
        return answer;
      } finally {
        // What is not kept now will not be; should this fail, a job does it later.
        await discardContents(context, keys).catch((err: unknown) =>
          log.warn({ err, requestId: request.id }, 'an upload was not cleared away'),
        );
      }
    },
  });
};

function noFile(): Error {
  return invalid({ property: 'file', message: 'is required' });
}

/** @throws Failure `invalid` for what is no text, Problem `body-too-large` */
async function readField({ name, content }: Part): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > MAX_FIELD)
      throw new Problem('body-too-large', `${name} has more than ${MAX_FIELD} bytes, which is the limit.`, {
        source: name,
      });
    pieces.push(piece);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    throw invalid({ property: name, message: 'must be text in UTF-8' });
  }
  if (text.includes('\0')) throw invalid({ property: name, message: 'must not have a NUL in it' });
  if (text.length > MAX_CHARACTERS)
    throw invalid({ property: name, message: `must have at most ${MAX_CHARACTERS} characters` });
  return text;
}

async function* upTo(max: number, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > max)
      throw new Problem('body-too-large', `The file has more than ${max} bytes, which is the limit.`, {
        source: 'file',
      });
    yield piece;
  }
}

/**
 * The same bytes, of which somebody sees the first before any of them go on.
 * @param look told the first, and whether they are all
 */
async function* watchHead(
  content: AsyncIterable<Uint8Array>,
  look: (head: readonly Uint8Array[], isWhole: boolean) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const head: Uint8Array[] = [];
  let size = 0;
  let hasLooked = false;
  for await (const piece of content) {
    if (hasLooked) {
      yield piece;
      continue;
    }
    head.push(piece);
    size += piece.length;
    if (size < HEAD) continue;
    await look(head, false);
    hasLooked = true;
    yield* head.splice(0);
  }
  if (hasLooked) return;
  await look(head, true);
  yield* head;
}

/**
 * @param named a format, or `auto`
 * @throws Failure `invalid` for a report that is empty, or that no format knows
 */
async function formatOf(named: string, head: readonly Uint8Array[], isWhole: boolean): Promise<Format> {
  const sample = await sampleOf(
    asFarAsItGoes(
      unpack(async function* () {
        yield* head;
      }),
    ),
  );
  const known = FORMATS.find(({ name }) => name === named);
  if (sample.text.trim() === '' && isWhole) {
    if (known?.emptyIsClean === true) return known;
    throw invalid({
      property: 'file',
      message: 'is empty: where that means that nothing was found, name the format',
    });
  }
  if (known !== undefined) return known;
  const [format, ...others] = recognising(sample);
  if (format === undefined)
    throw invalid({
      property: 'file',
      message: `is no report that is known here: these are ${FORMATS.map(({ name }) => name).join(', ')}`,
    });
  if (others.length > 0)
    throw invalid({
      property: 'file',
      message: `may be of several formats: name one of ${[format, ...others].map(({ name }) => name).join(', ')}`,
    });
  return format;
}

/** What can be unpacked of a file that breaks off, or of its beginning. */
function asFarAsItGoes(source: ReportSource): ReportSource {
  return async function* () {
    let size = 0;
    try {
      for await (const piece of source()) {
        size += piece.length;
        yield piece;
      }
    } catch (error) {
      if (!(error instanceof ReportError)) throw error;
      if (size === 0) throw invalid({ property: 'file', message: `cannot be read: ${error.message}` });
    }
  };
}
