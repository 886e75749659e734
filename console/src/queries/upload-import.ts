import { readError } from '../../../client/src/errors.ts';
import type { Severity } from './enums.ts';
import type { ImportJob } from './client.ts';
import { commonMessages } from '../components/messages.ts';
import { type OnUploadState, sendUpload } from './upload.ts';

/** Settings of an import, apart from its file (operation 65). */
export interface ImportSettings {
  assessmentUid: string | null;
  /** Set by staff who choose no assessment. */
  organizationUid: string | null;
  whenGone: 'keep' | 'fix';
  targets: readonly string[];
  /** Value of a datetime-local field, in the browser's time zone; may be empty. */
  scannedAt: string;
  /** Whether dates such as 3/4/2024 begin with the day or the month. */
  dateOrder: 'dmy' | 'mdy' | null;
  minimumSeverity: Severity | null;
  tags: readonly string[];
  carry: boolean;
  /** Whether to put the assets of the report in scope of the assessment. */
  listAssets: boolean;
  /** Whether new findings are drafts; undefined for the default of the assessment. Only staff set it. */
  draft: boolean | undefined;
}

/** Settings of a single file. */
export interface FileSettings {
  format: string;
  /** CSV column by field. */
  mapping: Readonly<Record<string, string>> | undefined;
}

function toFormData(
  file: File,
  settings: ImportSettings,
  { format, mapping }: FileSettings,
  dryRun: boolean,
): FormData {
  const form = new FormData();
  const set = (name: string, value: string | null) => {
    if (value !== null && value !== '') form.append(name, value);
  };
  set('format', format);
  set('assessment_id', settings.assessmentUid);
  if (settings.assessmentUid === null) set('organization_uid', settings.organizationUid);
  set('when_gone', settings.whenGone);
  for (const target of settings.targets) set('targets', target);
  for (const tag of settings.tags) set('tags', tag);
  if (settings.scannedAt !== '') set('scanned_at', new Date(settings.scannedAt).toISOString());
  set('date_order', settings.dateOrder);
  set('minimum_severity', settings.minimumSeverity);
  if (settings.carry) set('carry', 'true');
  if (settings.listAssets && settings.assessmentUid !== null) set('list_assets', 'true');
  if (settings.draft !== undefined) set('draft', String(settings.draft));
  if (mapping !== undefined) set('mapping', JSON.stringify(mapping));
  if (dryRun) set('dry_run', 'true');
  // The server ignores fields after the file.
  form.append('file', file, file.name);
  return form;
}

interface Upload {
  file: File;
  settings: ImportSettings;
  fileSettings: FileSettings;
  dryRun: boolean;
  onState: OnUploadState;
  signal: AbortSignal;
}

/** Uploads a report (operation 65). @throws AssayError if the server rejects it */
export async function uploadImport({
  file,
  settings,
  fileSettings,
  dryRun,
  onState,
  signal,
}: Upload): Promise<ImportJob> {
  const response = await sendUpload({
    path: '/v1/imports',
    form: toFormData(file, settings, fileSettings, dryRun),
    onState,
    signal,
    interrupted: commonMessages.serverUnreachable,
  });
  if (!response.ok) throw await readError(response);
  return (await response.json()) as ImportJob;
}
