import { useMutation } from '@tanstack/react-query';
import type { StoredAttachment } from '../../../client/src/description.ts';
import { tell, tellError } from '../components/notifications.tsx';
import { accessToken, forgetAccess } from '../session/access-token.ts';
import { api, AssayError } from './client.ts';
import { useRefresh } from './comments.ts';
import { saveFile } from './save-file.ts';

/** Files that operation 21 takes in one request. */
export const FILES_AT_ONCE = 10;

/** How much of an upload is sent: from 0 to 1. */
export type Progress = (sent: number) => void;

/** Operation 21, which tells how far it is: `fetch` cannot. @throws AssayError for an answer that is no success */
export async function uploadFiles(
  id: number,
  files: readonly File[],
  progress: Progress = () => undefined,
): Promise<readonly StoredAttachment[]> {
  const stored: StoredAttachment[] = [];
  for (let at = 0; at < files.length; at += FILES_AT_ONCE) {
    const some = files.slice(at, at + FILES_AT_ONCE);
    const part: Progress = (sent) => progress((at + sent * some.length) / files.length);
    let answer = await send(id, some, part);
    if (answer.status === 401) {
      forgetAccess();
      answer = await send(id, some, part);
    }
    const body = answer.body as unknown;
    if (answer.status !== 201) throw new AssayError(new Response(null, { status: answer.status }), body);
    stored.push(...(body as StoredAttachment[]));
  }
  return stored;
}

async function send(
  id: number,
  files: readonly File[],
  progress: Progress,
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
export async function download(
  id: number,
  { id: attachment, filename }: { id: number; filename?: string },
): Promise<void> {
  try {
    const { data, response } = await api.GET('/v1/vulnerabilities/{id}/attachments/{attachment_id}', {
      params: { path: { id, attachment_id: attachment } },
      parseAs: 'blob',
    });
    const told = nameIn(response.headers.get('content-disposition'));
    saveFile(filename ?? told ?? `attachment ${attachment}`, data);
  } catch (error) {
    tellError(`${filename ?? 'The attachment'} could not be downloaded`, error);
  }
}

/** @returns the name of a file in `content-disposition` (RFC 6266, section 4.3) */
function nameIn(disposition: string | null): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  return encoded === undefined
    ? /filename="([^"]*)"/i.exec(disposition ?? '')?.[1]
    : decodeURIComponent(encoded);
}

/** Operation 23. */
export function useRemoveAttachment(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: (attachment: StoredAttachment) =>
      api.DELETE('/v1/vulnerabilities/{id}/attachments/{attachment_id}', {
        params: { path: { id, attachment_id: attachment.id } },
      }),
    onSuccess(_answer, { filename }) {
      tell(`${filename} was removed.`);
      refresh();
    },
    onError: (error, { filename }) => tellError(`${filename} could not be removed`, error),
  });
}
