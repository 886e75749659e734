import { useMutation } from '@tanstack/react-query';
import type { StoredAttachment } from '../../../client/src/description.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import { sendWithToken } from '../session/access-token.ts';
import { api, AssayError } from './client.ts';
import { useRefreshVulnerability } from './edit-vulnerability.ts';
import { saveFile } from './save-file.ts';
import { queryMessages } from './messages.ts';

/** Limit of operation 21. */
export const MAX_FILES_PER_UPLOAD = 10;

/** Receives the uploaded fraction, from 0 to 1. */
export type OnProgress = (sent: number) => void;

/** Uploads files in batches (operation 21). @throws AssayError if the server rejects a batch; earlier ones stay */
export async function uploadFiles(
  id: number,
  files: readonly File[],
  progress: OnProgress = () => undefined,
): Promise<readonly StoredAttachment[]> {
  const stored: StoredAttachment[] = [];
  for (let at = 0; at < files.length; at += MAX_FILES_PER_UPLOAD) {
    const some = files.slice(at, at + MAX_FILES_PER_UPLOAD);
    const part: OnProgress = (sent) => progress((at + sent * some.length) / files.length);
    const result = await sendWithToken((token) => postFiles(id, some, token, part));
    const body = result.body as unknown;
    if (result.status !== 201) throw new AssayError(new Response(null, { status: result.status }), body);
    stored.push(...(body as StoredAttachment[]));
  }
  return stored;
}

async function postFiles(
  id: number,
  files: readonly File[],
  token: string,
  progress: OnProgress,
): Promise<{ status: number; body: unknown }> {
  const form = new FormData();
  for (const file of files) form.append('file', file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/v1/vulnerabilities/${id}/attachments`);
    request.setRequestHeader('authorization', `Bearer ${token}`);
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      progress(total === 0 ? 1 : loaded / total),
    );
    request.addEventListener('load', () =>
      resolve({ status: request.status, body: request.response as unknown }),
    );
    // A server that rejects a file early may close the connection before it responds.
    request.addEventListener('error', () => reject(new Error(queryMessages.attachment.interrupted)));
    request.send(form);
  });
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
