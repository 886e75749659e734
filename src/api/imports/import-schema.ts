import { type Static, Type } from 'typebox';
import { IMPORT_STATES, type ImportView } from '../../domain/imports/import-list.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { SEVERITIES } from '../../domain/shared/statuses-and-severities.ts';
import { DateTimeSchema, nullable, textSchema, nullableTextSchema } from '../../http/schemas.ts';
import { FORMAT_NAMES } from './import-fields.ts';
import { NullableUserRefSchema, Sha256Schema } from '../common-schemas.ts';

const MAX_SKIP_REASONS = 50;
const MAX_PREVIEW = 20;
const MAX_ITEMS = 1_000;

const countSchema = (description: string) => Type.Integer({ minimum: 0, description, examples: [0] });
const sourceLocationFields = {
  line: Type.Optional(Type.Integer({ minimum: 1, description: 'Starts at 1.' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Byte offset, starting at 0.' })),
};

const previewSchema = Type.Array(
  Type.Object(
    { title: textSchema('SQL injection'), asset: Type.Optional(textSchema('https://shop.acme.example/')) },
    { title: 'Previewed finding' },
  ),
  { maxItems: MAX_PREVIEW },
);

export const ImportSchema = Type.Object(
  {
    id: Type.Integer(),
    state: Type.String({ enum: [...IMPORT_STATES], maxLength: 16 }),
    format: Type.String({ enum: [...FORMAT_NAMES], maxLength: 16, examples: ['nuclei'] }),
    file: Type.Object(
      {
        filename: textSchema('nuclei.jsonl'),
        size: Type.Integer({ description: 'The size of the upload in bytes.', examples: [2048] }),
        sha256: Sha256Schema,
      },
      { title: 'Imported file' },
    ),
    organization_uid: textSchema('acme'),
    assessment_id: nullableTextSchema('acme-web-2026'),
    options: Type.Object(
      {
        when_gone: Type.String({ enum: ['keep', 'fix'], maxLength: 4 }),
        targets: Type.Array(textSchema('https://shop.acme.example/'), { maxItems: MAX_ITEMS }),
        scanned_at: nullable(DateTimeSchema),
        date_order: nullable(Type.String({ enum: ['dmy', 'mdy'], maxLength: 3 })),
        minimum_severity: nullable(Type.String({ enum: [...SEVERITIES], maxLength: 16 })),
        tags: Type.Array(textSchema('nightly'), { maxItems: MAX_ITEMS }),
        carry: Type.Boolean(),
        draft: Type.Optional(
          Type.Boolean({ description: 'Whether new findings begin as drafts. Present for staff.' }),
        ),
        list_assets: Type.Boolean(),
        mapping: nullable(Type.Record(Type.String({ maxLength: 1_024 }), textSchema('Name'))),
        dry_run: Type.Boolean(),
      },
      { title: 'Import options' },
    ),
    progress: Type.Object(
      {
        bytes_read: countSchema('Bytes read so far.'),
        bytes_total: countSchema('The size of the file in bytes.'),
        hosts: countSchema('Distinct hosts read so far.'),
        ports: countSchema('Ports read so far.'),
        findings: countSchema('Distinct findings read so far.'),
        skipped: countSchema('The number of records that were skipped.'),
        seconds_left: Type.Unsafe<number | null>({
          type: ['integer', 'null'],
          minimum: 0,
          description: 'Estimated time remaining in seconds; `null` if unknown.',
        }),
      },
      { title: 'Import progress' },
    ),
    skips: Type.Array(
      Type.Object(
        {
          reason: textSchema('passed'),
          count: countSchema('The number of records.'),
          ...sourceLocationFields,
        },
        { title: 'Skipped records', description: 'The position is that of the first skipped record.' },
      ),
      { maxItems: MAX_SKIP_REASONS },
    ),
    result: nullable(
      Type.Object(
        {
          assets_created: countSchema('Assets created.'),
          assets_updated: countSchema('Assets whose ports changed.'),
          assets_outside_scope: countSchema(
            'Assets of the report that the assessment does not list; 0 without an assessment.',
          ),
          ports_opened: countSchema('Ports that opened.'),
          ports_closed: countSchema('Ports that closed.'),
          findings_created: countSchema('Vulnerabilities created.'),
          findings_seen_again: countSchema('Vulnerabilities that were already known and were not reopened.'),
          findings_reopened: countSchema('Fixed vulnerabilities that were reopened.'),
          findings_gone: countSchema('Vulnerabilities that the report covers but no longer contains.'),
        },
        { title: 'Import result' },
      ),
    ),
    preview: nullable(
      Type.Object(
        { new: previewSchema, again: previewSchema, reopened: previewSchema, gone: previewSchema },
        { title: 'Import preview', description: 'For a dry run: the first entries of each kind.' },
      ),
    ),
    error: nullable(
      Type.Object(
        { message: textSchema('The report is truncated.'), ...sourceLocationFields },
        {
          title: 'Import error',
          description: 'Why and where the import failed. What was applied before remains.',
        },
      ),
    ),
    undone: nullable(
      Type.Object(
        {
          at: DateTimeSchema,
          findings: countSchema('Vulnerabilities deleted.'),
          assets: countSchema('Assets deleted.'),
          statuses: countSchema('Statuses restored.'),
          kept: countSchema(
            'Findings and assets of which something of the import remains, because another import has it, someone changed it, or the token could not delete the asset.',
          ),
        },
        { title: 'Import undone' },
      ),
    ),
    created_by: NullableUserRefSchema,
    created_at: DateTimeSchema,
    started_at: nullable(DateTimeSchema),
    finished_at: nullable(DateTimeSchema),
  },
  { title: 'Import job' },
);

export function toImportBody(view: ImportView): Static<typeof ImportSchema> {
  const { options, progress } = view;
  return {
    id: view.id,
    state: view.state,
    format: view.format,
    file: { filename: view.filename, size: view.size, sha256: view.sha256 },
    organization_uid: view.organizationUid,
    assessment_id: view.assessment,
    options: {
      when_gone: options.whenGone,
      targets: [...options.targets],
      scanned_at: formatNullableTimestamp(options.scannedAt),
      date_order: options.dateOrder ?? null,
      minimum_severity: options.minimumSeverity,
      tags: [...options.tags],
      carry: options.carry,
      ...(options.draft === undefined ? {} : { draft: options.draft }),
      list_assets: options.listAssets ?? false,
      mapping: options.mapping ?? null,
      dry_run: options.dryRun,
    },
    progress: {
      bytes_read: progress.bytesRead,
      bytes_total: progress.bytesTotal,
      hosts: progress.hosts,
      ports: progress.ports,
      findings: progress.findings,
      skipped: progress.skipped,
      seconds_left: progress.secondsLeft,
    },
    skips: [...view.skips],
    result: view.result,
    preview: view.preview,
    error: view.error,
    undone: view.undone === null ? null : { ...view.undone, at: formatTimestamp(view.undone.at) },
    created_by: view.createdBy,
    created_at: formatTimestamp(view.createdAt),
    started_at: formatNullableTimestamp(view.startedAt),
    finished_at: formatNullableTimestamp(view.finishedAt),
  };
}

const formatNullableTimestamp = (time: number | null): string | null =>
  time === null ? null : formatTimestamp(time);
