import { useMutation } from '@tanstack/react-query';
import type { StoredAttachment } from '../../../client/src/description.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import { accessToken, clearAccessToken } from '../session/access-token.ts';
import { api, AssayError } from './client.ts';
import { useRefreshVulnerability } from './comments.ts';
import { saveFile } from './save-file.ts';

/** Files that operation 21 takes in one request. */
export const MAX_FILES_PER_UPLOAD = 10;

/** How much of an upload is sent: from 0 to 1. */
export type OnProgress = (sent: number) => void;

/** Operation 21, which tells how far it is: `fetch` cannot. @throws AssayError for an answer that is no success */
export async function uploadFiles(
  id: number,
  files: readonly File[],
  progress: OnProgress = () => undefined,
): Promise<readonly StoredAttachment[]> {
  const stored: StoredAttachment[] = [];
  for (let at = 0; at < files.length; at += MAX_FILES_PER_UPLOAD) {
    const some = files.slice(at, at + MAX_FILES_PER_UPLOAD);
    const part: OnProgress = (sent) => progress((at + sent * some.length) / files.length);
    let answer = await postFiles(id, some, part);
    if (answer.status === 401) {
      clearAccessToken();
      answer = await postFiles(id, some, part);
    }
    const body = answer.body as unknown;
    if (answer.status !== 201) throw new AssayError(new Response(null, { status: answer.status }), body);
    stored.push(...(body as StoredAttachment[]));
  }
  return stored;
}

async function postFiles(
  id: number,
  files: readonly File[],
  progress: OnProgress,
): Promise<{ status: number; body: unknown }> {
  const form = new FormData();
  for (const file of files) form.append('file', file, file.name);
  const token = await accessToken();
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
    // As `fetch` tells it: a server that refuses a file early may close the connection before it answers.
    request.addEventListener('error', () => reject(new TypeError('The upload was cut off.')));
    request.send(form);
  });
}

/** Operation 22, into the downloads of the browser, as the server calls the file unless told. */
export async function downloadAttachment(
  id: number,
  { id: attachment, filename }: { id: number; filename?: string },
): Promise<void> {
  try {
    const { data, response } = await api.GET('/v1/vulnerabilities/{id}/attachments/{attachment_id}', {
      params: { path: { id, attachment_id: attachment } },
      parseAs: 'blob',
    });
    const told = parseFilename(response.headers.get('content-disposition'));
    saveFile(filename ?? told ?? `attachment ${attachment}`, data);
  } catch (error) {
    notifyError(`${filename ?? 'The attachment'} could not be downloaded`, error);
  }
}

/** @returns the name of a file in `content-disposition` (RFC 6266, section 4.3) */
function parseFilename(disposition: string | null): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  return encoded === undefined
    ? /filename="([^"]*)"/i.exec(disposition ?? '')?.[1]
    : decodeURIComponent(encoded);
}

/** Operation 23. */
export function useDeleteAttachment(id: number) {
  const refresh = useRefreshVulnerability(id);
  return useMutation({
    mutationFn: (attachment: StoredAttachment) =>
      api.DELETE('/v1/vulnerabilities/{id}/attachments/{attachment_id}', {
        params: { path: { id, attachment_id: attachment.id } },
      }),
    onSuccess(_answer, { filename }) {
      notify(`${filename} was removed.`);
      refresh();
    },
    onError: (error, { filename }) => notifyError(`${filename} could not be removed`, error),
  });
}
