import { readError } from '../../../client/src/errors.ts';
import { accessToken, clearAccessToken } from '../session/access-token.ts';
import type { Severity } from '../components/severity-badge.tsx';
import type { ImportJob } from './client.ts';

/** What is asked of an import beside its file (operation 65). */
export interface ImportSettings {
  assessmentUid: string | null;
  /** Of staff, without an assessment. */
  organizationUid: string | null;
  whenGone: 'keep' | 'fix';
  targets: readonly string[];
  /** As the field of a form writes it, in the zone of who reads it; empty for none. */
  scannedAt: string;
  minimumSeverity: Severity | null;
  tags: readonly string[];
  carry: boolean;
}

/** What differs from file to file. */
export interface FileSettings {
  format: string;
  /** Our member, and their column. */
  mapping: Readonly<Record<string, string>> | undefined;
}

function toFormData(
  file: File,
  wishes: ImportSettings,
  { format, mapping }: FileSettings,
  dryRun: boolean,
): FormData {
  const form = new FormData();
  const set = (name: string, value: string | null) => {
    if (value !== null && value !== '') form.append(name, value);
  };
  set('format', format);
  set('assessment_id', wishes.assessmentUid);
  if (wishes.assessmentUid === null) set('organization_uid', wishes.organizationUid);
  set('when_gone', wishes.whenGone);
  for (const target of wishes.targets) set('targets', target);
  for (const tag of wishes.tags) set('tags', tag);
  if (wishes.scannedAt !== '') set('scanned_at', new Date(wishes.scannedAt).toISOString());
  set('minimum_severity', wishes.minimumSeverity);
  if (wishes.carry) set('carry', 'true');
  if (mapping !== undefined) set('mapping', JSON.stringify(mapping));
  if (dryRun) set('dry_run', 'true');
  // Behind it nothing is read.
  form.append('file', file, file.name);
  return form;
}

interface Upload {
  file: File;
  settings: ImportSettings;
  fileSettings: FileSettings;
  dryRun: boolean;
  /** From 0 to 1. */
  onProgress: (part: number) => void;
  signal: AbortSignal;
}

/** Operation 65, by what tells how much was sent. @throws AssayError for a refusal */
export async function uploadImport({
  file,
  settings,
  fileSettings,
  dryRun,
  onProgress,
  signal,
}: Upload): Promise<ImportJob> {
  const send = async () => postForm(toFormData(file, settings, fileSettings, dryRun), onProgress, signal);
  let response = await send();
  if (response.status === 401) {
    clearAccessToken();
    response = await send();
  }
  if (!response.ok) throw await readError(response);
  return (await response.json()) as ImportJob;
}

async function postForm(
  form: FormData,
  onSent: (part: number) => void,
  signal: AbortSignal,
): Promise<Response> {
  const token = await accessToken();
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    // A fetch does not tell how much it has sent.
    const request = new XMLHttpRequest();
    request.open('POST', '/v1/imports');
    request.setRequestHeader('authorization', `Bearer ${token}`);
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onSent(total === 0 ? 1 : loaded / total),
    );
    request.addEventListener('load', () => {
      const headers = { 'retry-after': request.getResponseHeader('retry-after') ?? '' };
      resolve(new Response(request.responseText, { status: request.status, headers }));
    });
    request.addEventListener('error', () => reject(new TypeError('The server cannot be reached.')));
    request.addEventListener('abort', () => reject(signal.reason as Error));
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}
