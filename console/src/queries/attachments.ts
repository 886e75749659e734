import { useMutation } from '@tanstack/react-query';
import type { StoredAttachment } from '../../../client/src/openapi-types.ts';
import { readError } from '../../../client/src/errors.ts';
import { notify, notifyError } from '../components/notifications.ts';
import { api } from './client.ts';
import { useRefreshVulnerability } from './edit-vulnerability.ts';
import { saveFile } from './save-file.ts';
import { queryMessages } from './messages.ts';
import { type OnUploadState, sendUpload } from './upload.ts';

/** Limit of operation 21. */
const MAX_FILES_PER_UPLOAD = 10;

/** Uploads files in batches (operation 21). @throws AssayError if the server rejects a batch; earlier ones stay */
export async function uploadFiles(
  id: number,
  files: readonly File[],
  onState: OnUploadState = () => undefined,
): Promise<readonly StoredAttachment[]> {
  const stored: StoredAttachment[] = [];
  for (let start = 0; start < files.length; start += MAX_FILES_PER_UPLOAD) {
    const batch = files.slice(start, start + MAX_FILES_PER_UPLOAD);
    const form = new FormData();
    for (const file of batch) form.append('file', file, file.name);
    const response = await sendUpload({
      path: `/v1/vulnerabilities/${id}/attachments`,
      form,
      onState: (state) =>
        onState(state === 'waiting' ? state : (start + state * batch.length) / files.length),
      interrupted: queryMessages.attachment.interrupted,
    });
    if (!response.ok) throw await readError(response);
    stored.push(...((await response.json()) as StoredAttachment[]));
  }
  return stored;
}

/** Downloads an attachment (operation 22) under `filename`, or under the name that the server gives. */
export async function downloadAttachment(
  id: number,
  { id: attachment, filename }: { id: number; filename?: string },
): Promise<void> {
  try {
    const { data, response } = await api.GET('/v1/vulnerabilities/{id}/attachments/{attachment_id}', {
      params: { path: { id, attachment_id: attachment } },
      parseAs: 'blob',
    });
    const serverName = parseFilename(response.headers.get('content-disposition'));
    saveFile(filename ?? serverName ?? queryMessages.attachment.name(attachment), data);
  } catch (error) {
    notifyError(
      queryMessages.attachment.downloadFailed(filename ?? queryMessages.attachment.name(attachment)),
      error,
    );
  }
}

/** Parses the file name of a `content-disposition` header (RFC 6266, section 4.3). */
function parseFilename(disposition: string | null): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  return encoded === undefined
    ? /filename="([^"]*)"/i.exec(disposition ?? '')?.[1]
    : decodeURIComponent(encoded);
}

/** Deletes an attachment (operation 23). */
export function useDeleteAttachment(id: number) {
  const refresh = useRefreshVulnerability(id);
  return useMutation({
    mutationFn: (attachment: StoredAttachment) =>
      api.DELETE('/v1/vulnerabilities/{id}/attachments/{attachment_id}', {
        params: { path: { id, attachment_id: attachment.id } },
      }),
    onSuccess(_result, { filename }) {
      notify(queryMessages.deleted(filename));
      refresh();
    },
    onError: (error, { filename }) => notifyError(queryMessages.attachment.deleteFailed(filename), error),
  });
}
