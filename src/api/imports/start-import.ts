import type { Caller } from '../../auth/callers.ts';
import { requireDraftRight } from '../../domain/vulnerabilities/drafts.ts';
import type { Context } from '../../context.ts';
import { IMPORT_VERSION, requireImportPermission, startImport } from '../../domain/imports/start-import.ts';
import { invalidInput } from '../../domain/shared/errors.ts';
import { deleteUnreferenced, storeContent } from '../../files/file-storage.ts';
import type { MultipartPart } from '../../http/multipart.ts';
import { CONCURRENCY_LIMITS } from '../../http/account-limits.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { Problem } from '../../http/problems.ts';
import { limitFileSize, readUpload } from '../../http/uploads.ts';
import { startRequestHash } from '../../http/idempotency.ts';
import { LocationHeader } from '../../http/etags.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { REPORT_FORMATS, MAX_SAMPLE, matchingFormats, readSample } from '../../importers/formats/index.ts';
import { decompress } from '../../importers/parsing/decompress.ts';
import { type ReportFormat, ReportError, type ByteSource } from '../../importers/report.ts';
import { takeTurn } from '../../lib/yield-to-event-loop.ts';
import { ImportSchema, toImportBody } from './import-schema.ts';
import { importFieldsSchema, isImportField, parseImportFields } from './import-fields.ts';
import { V1_ACCESS } from '../v1-params.ts';
import { formatSize } from '../../lib/format-size.ts';

/** Bytes of the body in addition to the file: the fields, and the headers and boundaries of all parts. */
const MAX_OVERHEAD_BYTES = 8 * 1024 * 1024;
/** Maximum number of fields, and bytes of all their names and values. */
const [MAX_FIELDS, MAX_FIELD_BYTES] = [2_100, 1024 * 1024];
/** Maximum characters of a field. */
const MAX_FIELD_LENGTH = 65_536;
/** Bytes of a file, compressed or not, that contain the sample of the report: incompressible content grows a little. */
const HEAD_BYTES = MAX_SAMPLE + 64 * 1024;

const startImportOperation = (context: Context) => {
  const { clock, config, db, jobs, log } = context;
  return operation({
    id: 'startImport',
    number: 65,
    summary: 'Import a report',
    description: `Queues a report of at most ${formatSize(config.maxImportSize)} for import by a background job. The file must be the last part; send \`targets\` and \`tags\` as repeated fields. A report of findings requires an assessment that the caller has access to; a report of hosts without an assessment requires an admin and a scope that can write assets of the organization. Hosts that the scopes of the token cannot write are skipped. \`list_assets\` requires the right to add assets to the listing (operation 11). The format must be recognisable within the first 256 KiB. An unrecognised report, an unknown field, a part after the file, or a file before an \`assessment_id\` that it requires returns 422 and queues nothing. An organization can have at most 20 imports queued; another one returns 409. The names and values of the fields have at most ${formatSize(MAX_FIELD_BYTES)}. An account can have at most ${CONCURRENCY_LIMITS.upload.perAccount} uploads running; another one returns 429. An upload whose body arrives too slowly returns 408.`,
    method: 'POST',
    path: '/imports',
    access: V1_ACCESS,
    multipart: importFieldsSchema(config.maxImportSize),
    inputs: { assessment: 'assessment_id', organization: 'organization_uid' },
    responses: {
      202: {
        description: 'The import was queued.',
        schema: ImportSchema,
        headers: { Location: LocationHeader },
      },
    },
    versioned: true,
    idempotency: { hashedByHandler: true },
    async handler(request, reply) {
      const { caller, writeOnce, headers } = request;
      const keys: string[] = [];
      try {
        if (headers['content-type'] === undefined) throw missingFile();
        const hash = startRequestHash(request);
        const parts = readUpload(context, request, reply, {
          maxBytes: config.maxImportSize + MAX_OVERHEAD_BYTES,
          maxParts: MAX_FIELDS + 1,
        });
        const fields = new Map<string, string[]>();
        let fieldBytes = 0;
        let upload: Omit<Parameters<typeof startImport>[2], 'assessment' | 'organization'> | undefined;
        let target: Pick<Parameters<typeof startImport>[2], 'assessment' | 'organization'> = {};
        for await (const part of parts) {
          const { name, filename, type, content } = part;
          hash.update(JSON.stringify([name, filename ?? null, type]));
          if (upload !== undefined) throw invalidInput({ property: name, code: 'after-file' });
          if (name !== 'file') {
            if (!isImportField(name)) throw invalidInput({ property: name, code: 'unknown-import-field' });
            fieldBytes += name.length;
            const { text, size } = await readField(part, MAX_FIELD_BYTES - fieldBytes);
            fieldBytes += size;
            hash.update(JSON.stringify(text));
            const values = fields.get(name);
            if (values === undefined) fields.set(name, [text]);
            else values.push(text);
            continue;
          }
          const form = parseImportFields(fields, clock());
          requireDraftRight(caller, form.options.draft);
          target = form.target;
          // `assessment_id` may follow the file. The error for its position comes before the one for a caller who may
          // not omit it.
          if (target.assessment === undefined && !mayOmitAssessment(caller, target))
            throw caller.staff ? missingTarget() : missingAssessment();
          // Replays are checked too, as they are recognised only once the file has been stored.
          const requireFormat = await requireImportPermission(db.read, caller, target, form.options);
          let format: ReportFormat | undefined;
          const inspected = inspectHead(
            limitFileSize(content, config.maxImportSize),
            async (head, isWhole) => {
              format = await detectUploadFormat(form.format, head, isWhole);
              requireFormat(format);
            },
          );
          const stored = await storeContent(context, inspected, (key) => keys.push(key));
          hash.update(stored.sha256);
          if (format === undefined)
            throw new Error('The report was stored without its head being inspected.');
          upload = { format, filename, content: stored, options: form.options };
        }
        if (upload === undefined) {
          parseImportFields(fields, clock());
          throw missingFile();
        }
        const input = { ...upload, ...target };
        const result = await writeOnce(
          async (tx) => {
            const view = await startImport(tx, { actor: caller, now: clock() }, input);
            return versionedResult(IMPORT_VERSION, toImportBody(view), { location: `/imports/${view.id}` });
          },
          { hash: hash.digest('base64url') },
        );
        jobs.notify();
        return result;
      } finally {
        // Deletes content that no import refers to. If this fails, a job deletes it later.
        await deleteUnreferenced(context, keys).catch((err: unknown) =>
          log.warn({ err, requestId: request.id }, 'could not delete the content of a failed upload'),
        );
      }
    },
  });
};

export default operationsOf('v1', [startImportOperation]);

/**
 * Whether the caller can import a report of hosts without an assessment: admins and staff can, if the caller belongs to
 * an organization or the target names one.
 */
function mayOmitAssessment(
  { admin, staff, organizationId }: Caller,
  { organization }: { organization?: string | undefined },
): boolean {
  return (admin || staff) && (organizationId !== null || organization !== undefined);
}

function missingAssessment(): Error {
  return invalidInput({ property: 'assessment', code: 'assessment-required-before-file' });
}

function missingTarget(): Error {
  return invalidInput({
    property: 'assessment',
    code: 'assessment-or-organization-required-before-file',
    params: { other: 'organization' },
  });
}

function missingFile(): Error {
  return invalidInput({ property: 'file', code: 'required' });
}

/**
 * @param max bytes left for the fields
 * @returns the text, and its bytes as sent
 * @throws DomainError `invalid` unless the content is text, Problem `body-too-large`
 */
async function readField(
  { name, content }: MultipartPart,
  max: number,
): Promise<{ text: string; size: number }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > max)
      throw new Problem(
        'body-too-large',
        `The names and values of the fields are larger than the limit of ${formatSize(MAX_FIELD_BYTES)}.`,
        { source: name },
      );
    chunks.push(chunk);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw invalidInput({ property: name, code: 'not-utf8' });
  }
  if (text.includes('\0')) throw invalidInput({ property: name, code: 'contains-nul' });
  if (text.length > MAX_FIELD_LENGTH)
    throw invalidInput({ property: name, code: 'too-long', params: { max: MAX_FIELD_LENGTH } });
  return { text, size };
}

/**
 * Passes the bytes through, after `inspect` has seen the first of them.
 * @param inspect gets the first bytes, and whether they are all
 */
async function* inspectHead(
  content: AsyncIterable<Uint8Array>,
  inspect: (head: readonly Uint8Array[], isWhole: boolean) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const head: Uint8Array[] = [];
  let size = 0;
  let hasInspected = false;
  for await (const chunk of content) {
    if (hasInspected) {
      yield chunk;
      continue;
    }
    head.push(chunk);
    size += chunk.length;
    if (size < HEAD_BYTES) continue;
    await inspect(head, false);
    hasInspected = true;
    yield* head.splice(0);
  }
  if (hasInspected) return;
  await inspect(head, true);
  yield* head;
}

/**
 * @param formatName a format, or `auto`
 * @throws DomainError `invalid` for an empty report and for an unrecognised one
 */
async function detectUploadFormat(
  formatName: string,
  head: readonly Uint8Array[],
  isWhole: boolean,
): Promise<ReportFormat> {
  await takeTurn();
  const sample = await readSample(
    ignoreTruncation(
      decompress(async function* () {
        yield* head;
      }),
    ),
  );
  const namedFormat = REPORT_FORMATS.find(({ name }) => name === formatName);
  if (sample.text.trim() === '' && isWhole) {
    if (namedFormat?.allowsEmpty === true) return namedFormat;
    throw invalidInput({ property: 'file', code: 'empty-report' });
  }
  if (namedFormat !== undefined) return namedFormat;
  const [format, ...otherFormats] = matchingFormats(sample);
  if (format === undefined)
    throw invalidInput({
      property: 'file',
      code: 'format-not-recognised',
      params: { formats: REPORT_FORMATS.map(({ name }) => name) },
    });
  if (otherFormats.length > 0)
    throw invalidInput({
      property: 'file',
      code: 'ambiguous-format',
      params: { formats: [format, ...otherFormats].map(({ name }) => name) },
    });
  return format;
}

/** Yields the part of a truncated file that can be decompressed. */
function ignoreTruncation(source: ByteSource): ByteSource {
  return async function* () {
    let size = 0;
    try {
      for await (const chunk of source()) {
        size += chunk.length;
        yield chunk;
      }
    } catch (error) {
      if (!(error instanceof ReportError)) throw error;
      if (size === 0)
        throw invalidInput({ property: 'file', code: 'unreadable', params: { reason: error.message } });
    }
  };
}
