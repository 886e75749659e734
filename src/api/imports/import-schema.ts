import { type Static, type TSchema, Type } from 'typebox';
import { IMPORT_STATES, type ImportView } from '../../domain/imports/import-list.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { SEVERITIES } from '../../domain/vulnerabilities/statuses-and-severities.ts';
import { DateTime, orNull, storedText, unknownText } from '../../http/schemas.ts';
import { NamedUserOrNull } from '../v1/named-users.ts';

const MAX_SKIPS = 50;
const MAX_PREVIEWED = 20;
const MAX_ITEMS = 1_000;

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [0] });
/** A member that may be `null`, which a union would be slow to serialize and hard to read. */
const orNothing = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const place = {
  line: Type.Optional(Type.Integer({ minimum: 1, description: 'From 1.' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Bytes, from 0.' })),
};

const previewed = Type.Array(
  Type.Object(
    { title: storedText('SQL injection'), asset: Type.Optional(storedText('https://shop.acme.example/')) },
    { title: 'Previewed finding' },
  ),
  { maxItems: MAX_PREVIEWED },
);

export const ImportBody = Type.Object(
  {
    id: Type.Integer(),
    state: Type.String({ enum: [...IMPORT_STATES], maxLength: 16 }),
    format: storedText('nuclei'),
    file: Type.Object(
      {
        filename: storedText('nuclei.jsonl'),
        size: Type.Integer({ description: 'Bytes, as it was sent.', examples: [2048] }),
        sha256: storedText('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
      },
      { title: 'Imported file' },
    ),
    organization_uid: storedText('acme'),
    assessment_id: unknownText('acme-web-2026'),
    options: Type.Object(
      {
        when_gone: Type.String({ enum: ['keep', 'fix'], maxLength: 4 }),
        targets: Type.Array(storedText('https://shop.acme.example/'), { maxItems: MAX_ITEMS }),
        scanned_at: orNull(DateTime),
        minimum_severity: orNull(Type.String({ enum: [...SEVERITIES], maxLength: 16 })),
        tags: Type.Array(storedText('nightly'), { maxItems: MAX_ITEMS }),
        carry: Type.Boolean(),
        mapping: orNothing(Type.Record(Type.String({ maxLength: 1_024 }), storedText('Name'))),
        dry_run: Type.Boolean(),
      },
      { title: 'Import options' },
    ),
    progress: Type.Object(
      {
        bytes_read: count('Of the file as it was sent.'),
        bytes_total: count('Its size.'),
        hosts: count('Read so far.'),
        ports: count('Read so far.'),
        findings: count('Read so far, each once.'),
        skipped: count('Records that were not taken.'),
        seconds_left: Type.Unsafe<number | null>({
          type: ['integer', 'null'],
          minimum: 0,
          description: 'An estimate; `null` where there is none.',
        }),
      },
      { title: 'Import progress' },
    ),
    skips: Type.Array(
      Type.Object(
        { reason: storedText('passed'), count: count('How many.'), ...place },
        { title: 'Skipped records', description: 'The place is that of the first.' },
      ),
      { maxItems: MAX_SKIPS },
    ),
    result: orNothing(
      Type.Object(
        {
          assets_created: count('Assets that were made.'),
          assets_updated: count('Assets whose ports changed.'),
          ports_opened: count('Ports that came to be open.'),
          ports_closed: count('Ports that came to be closed.'),
          findings_created: count('Vulnerabilities that were made.'),
          findings_seen_again: count('Those that stood.'),
          findings_reopened: count('Those that were fixed and are open again.'),
          findings_gone: count('Those that the report covers and no longer has.'),
        },
        { title: 'Import result' },
      ),
    ),
    preview: orNothing(
      Type.Object(
        { new: previewed, again: previewed, reopened: previewed, gone: previewed },
        { title: 'Import preview', description: 'Of a dry run: the first of each.' },
      ),
    ),
    error: orNothing(
      Type.Object(
        { message: storedText('The report ends too early.'), ...place },
        { title: 'Import error', description: 'Why it failed, and where; what was read before is kept.' },
      ),
    ),
    undone: orNothing(
      Type.Object(
        {
          at: DateTime,
          findings: count('Vulnerabilities that were taken away.'),
          assets: count('Assets that were taken away.'),
          statuses: count('Statuses that were set back.'),
          kept: count('What others have touched since, and so stays.'),
        },
        { title: 'Import undone' },
      ),
    ),
    created_by: NamedUserOrNull,
    created_at: DateTime,
    started_at: orNull(DateTime),
    finished_at: orNull(DateTime),
  },
  { title: 'Import job' },
);

/** @returns an import as the API tells it */
export function importBody(view: ImportView): Static<typeof ImportBody> {
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
      scanned_at: timeOrNull(options.scannedAt),
      minimum_severity: options.minimumSeverity,
      tags: [...options.tags],
      carry: options.carry,
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
    undone: view.undone === null ? null : { ...view.undone, at: isoTime(view.undone.at) },
    created_by: view.createdBy,
    created_at: isoTime(view.createdAt),
    started_at: timeOrNull(view.startedAt),
    finished_at: timeOrNull(view.finishedAt),
  };
}

const timeOrNull = (time: number | null): string | null => (time === null ? null : isoTime(time));
