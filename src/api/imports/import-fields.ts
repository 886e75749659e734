import { type Static, Type } from 'typebox';
import { normalizeLocation } from '../../domain/assets/asset-locations.ts';
import type { ImportOptions } from '../../domain/imports/import-types.ts';
import type { ImportTarget } from '../../domain/imports/start-import.ts';
import { type FieldError, type FieldErrorReason, invalidInput } from '../../domain/shared/errors.ts';
import { validateName } from '../../domain/shared/names.ts';
import { parseTimestamp } from '../../domain/shared/time.ts';
import { SEVERITIES, type Severity } from '../../domain/shared/statuses-and-severities.ts';
import { Problem } from '../../http/problems.ts';
import { MAX_TEXT } from '../../http/schemas.ts';
import { REPORT_FORMATS } from '../../importers/formats/index.ts';

export const AUTO_FORMAT = 'auto';
export const FORMAT_NAMES = [AUTO_FORMAT, ...REPORT_FORMATS.map(({ name }) => name)];
const MAX_ITEMS = 1_000;
const MAX_COLUMNS = 100;
const MAX_COLUMN_NAME = 1_024;
/** Scan times before this are not plausible. */
const EARLIEST_SCAN = Date.UTC(1995, 0, 1);
/** Clock skew allowed for scan times, in ms. */
const MAX_CLOCK_SKEW = 60_000;

const flagField = (description: string) =>
  Type.Optional(Type.Boolean({ default: false, description, examples: [false] }));

/** The parts of the body; `file` is the last. */
export const importFieldsSchema = (maxSize: number) =>
  Type.Object(
    {
      format: Type.Optional(
        Type.String({
          enum: [...FORMAT_NAMES],
          default: AUTO_FORMAT,
          maxLength: MAX_TEXT,
          description: 'The format of the report. By default, detected from its content.',
          examples: ['nmap'],
        }),
      ),
      assessment_id: Type.Optional(
        Type.String({
          maxLength: MAX_TEXT,
          description: 'The uid of the assessment to add findings to. Required for a report of findings.',
          examples: ['acme-web-2026'],
        }),
      ),
      when_gone: Type.Optional(
        Type.String({
          enum: ['keep', 'fix'],
          default: 'keep',
          maxLength: MAX_TEXT,
          description: 'What to do with findings that the report covers but no longer contains.',
          examples: ['keep'],
        }),
      ),
      targets: Type.Optional(
        Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['https://shop.acme.example/'] }), {
          maxItems: MAX_ITEMS,
          description:
            'Addresses, host names or URLs that were scanned, if the report does not contain them.',
        }),
      ),
      scanned_at: Type.Optional(
        Type.String({
          format: 'date-time',
          maxLength: 64,
          description:
            'The time of the scan, if the report does not contain it. A time without an offset is UTC.',
          examples: ['2026-01-20T09:00:00Z'],
        }),
      ),
      date_order: Type.Optional(
        Type.String({
          enum: [...DATE_ORDERS],
          maxLength: MAX_TEXT,
          description:
            'Whether dates such as 3/4/2024 in CSV begin with the day (dmy) or the month (mdy), if no other date of the column shows it.',
          examples: ['dmy'],
        }),
      ),
      minimum_severity: Type.Optional(
        Type.String({
          enum: [...SEVERITIES],
          maxLength: MAX_TEXT,
          description: 'Findings below this severity are skipped.',
          examples: ['Low'],
        }),
      ),
      tags: Type.Optional(
        Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['nightly'] }), {
          maxItems: MAX_ITEMS,
          description: 'Names of tags to add to new vulnerabilities.',
        }),
      ),
      draft: Type.Optional(
        Type.Boolean({
          description: 'For staff. Whether new findings begin as drafts. By default, as the assessment says.',
          examples: [true],
        }),
      ),
      carry: flagField('Copy decisions about the same finding from other assessments.'),
      list_assets: flagField(
        'Add the assets of the report to the listing of the assessment, if you could do so with operation 11.',
      ),
      mapping: Type.Optional(
        Type.String({
          maxLength: 65_536,
          description: 'For CSV only: a JSON object that maps properties to columns.',
          examples: ['{"title":"Name","severity":"Risk"}'],
        }),
      ),
      dry_run: flagField('Preview the import without applying it.'),
      organization_uid: Type.Optional(
        Type.String({
          maxLength: MAX_TEXT,
          description: 'For staff, without an assessment: the uid of the organization to import hosts into.',
          examples: ['acme'],
        }),
      ),
      file: Type.String({
        format: 'binary',
        maxLength: maxSize,
        description:
          'The report, uncompressed, gzipped, or as the only file of a zip archive. Must be the last part.',
        examples: ['<?xml version="1.0"?><nmaprun></nmaprun>'],
      }),
    },
    { title: 'Report import' },
  );

const DATE_ORDERS = ['dmy', 'mdy'] as const;

type ImportField = Exclude<keyof Static<ReturnType<typeof importFieldsSchema>>, 'file'>;

const { file: _file, ...FIELDS_BEFORE_FILE } = importFieldsSchema(0).properties;

/** @returns whether a field of this name can precede the file */
export function isImportField(name: string): name is ImportField {
  return Object.hasOwn(FIELDS_BEFORE_FILE, name);
}

/** Values by field name. An empty value counts as absent. */
export type PresentFields = ReadonlyMap<string, readonly string[]>;

export interface ParsedImportFields {
  target: ImportTarget;
  format: string;
  options: ImportOptions;
}

/**
 * @param now milliseconds since 1970
 * @throws DomainError `invalid` for an invalid value, Problem `batch-too-large` for too many items
 */
export function parseImportFields(fields: PresentFields, now: number): ParsedImportFields {
  const errors: FieldError[] = [];
  const addError: AddFieldError = (property, problem, value) => {
    errors.push({ property, ...problem, value });
  };
  const all = (name: ImportField): readonly string[] =>
    (fields.get(name) ?? []).filter((text) => text !== '');
  const singleValue = (name: ImportField): string | undefined => {
    const [text, second] = all(name);
    if (second !== undefined) addError(name, { code: 'sent-twice' }, second);
    return text;
  };
  const choice = <T extends string>(name: ImportField, choices: readonly T[]): T | undefined => {
    const text = singleValue(name);
    const selected = choices.find((item) => item === text);
    if (text !== undefined && selected === undefined)
      addError(name, { code: 'not-one-of', params: { values: choices } }, text);
    return selected;
  };
  const isOn = (name: ImportField): boolean =>
    ['true', '1'].includes(choice(name, ['true', 'false', '1', '0']) ?? '');
  for (const name of ['targets', 'tags'] as const) {
    const size = all(name).length;
    if (size > MAX_ITEMS)
      throw new Problem('batch-too-large', `${name} has more than the ${MAX_ITEMS} items allowed.`, {
        batch: { max: MAX_ITEMS, size },
        source: name,
      });
  }

  const options: ImportOptions = {
    whenGone: choice('when_gone', ['keep', 'fix'] as const) ?? 'keep',
    targets: all('targets').flatMap((text, index) => {
      const target = parseScanTarget(text);
      return 'location' in target
        ? [target.location]
        : (addError(`targets.${index}`, target.error, text) ?? []);
    }),
    scannedAt: parseScanTime(singleValue('scanned_at'), now, addError),
    dateOrder: choice('date_order', DATE_ORDERS) ?? null,
    minimumSeverity: choice<Severity>('minimum_severity', SEVERITIES) ?? null,
    tags: all('tags').map((name, index) => {
      const error = validateName(`tags.${index}`, name);
      if (error !== undefined) errors.push(error);
      return name.trim();
    }),
    draft: all('draft').length === 0 ? undefined : isOn('draft'),
    carry: isOn('carry'),
    listAssets: isOn('list_assets'),
    mapping: parseMapping(singleValue('mapping'), addError),
    dryRun: isOn('dry_run'),
  };
  const format = choice('format', FORMAT_NAMES) ?? AUTO_FORMAT;
  const target = { assessment: singleValue('assessment_id'), organization: singleValue('organization_uid') };
  if (errors.length > 0) throw invalidInput(errors);
  return { target, format, options };
}

type AddFieldError = (property: string, problem: FieldErrorReason, value: unknown) => undefined;

/** Normalises a target to the location of an asset. */
function parseScanTarget(text: string): { location: string } | { error: FieldErrorReason } {
  if (/^https?:/i.test(text.trim())) return normalizeLocation('webapp', text);
  const host = normalizeLocation('host', text);
  return 'location' in host ? host : { error: { code: 'not-a-target' } };
}

function parseScanTime(text: string | undefined, now: number, addError: AddFieldError): number | null {
  if (text === undefined) return null;
  const time = parseTimestamp(text);
  if (time === undefined) return addError('scanned_at', { code: 'not-a-timestamp' }, text) ?? null;
  if (time < EARLIEST_SCAN || time > now + MAX_CLOCK_SKEW)
    return addError('scanned_at', { code: 'not-between-1995-and-now' }, text) ?? null;
  return Math.min(time, now);
}

function parseMapping(
  text: string | undefined,
  addError: AddFieldError,
): Readonly<Record<string, string>> | undefined {
  if (text === undefined) return undefined;
  let mapping: unknown;
  try {
    mapping = JSON.parse(text);
  } catch {
    return addError('mapping', { code: 'not-json' }, text);
  }
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping))
    return addError('mapping', { code: 'not-a-mapping' }, text);
  const entries = Object.entries(mapping as Record<string, unknown>);
  const isColumn = (column: unknown): column is string =>
    typeof column === 'string' &&
    column.length <= MAX_COLUMN_NAME &&
    !column.includes('\0') &&
    column.isWellFormed();
  const invalidEntry = entries.find(([, column]) => !isColumn(column));
  if (invalidEntry !== undefined)
    return addError(`mapping.${invalidEntry[0]}`, { code: 'not-a-column' }, invalidEntry[1]);
  if (entries.length > MAX_COLUMNS)
    return addError('mapping', { code: 'too-many-members', params: { max: MAX_COLUMNS } }, undefined);
  return Object.fromEntries(entries) as Record<string, string>;
}
