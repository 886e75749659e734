import { retryAfterOf } from '../../../client/src/errors.ts';
import { sendWithToken } from '../session/access-token.ts';
import { createSemaphore } from './semaphore.ts';

/** The uploaded fraction, from 0 to 1, or `waiting` while the page or the account has too many other uploads. */
export type UploadState = number | 'waiting';

export type OnUploadState = (state: UploadState) => void;

/** The server allows four of an account, which may have other tabs open. */
const MAX_UPLOADS = 2;
/** Seconds. */
const RETRY_DELAY = 1;

const acquirePermit = createSemaphore(MAX_UPLOADS);

interface Upload {
  path: string;
  /** Read again for each attempt. */
  form: FormData;
  onState: OnUploadState;
  signal?: AbortSignal | undefined;
  /** Message of the error if the connection is lost. */
  interrupted: string;
}

/**
 * Uploads a form. Runs at most two uploads at a time, and retries after a 429.
 * @throws Error with the message `interrupted` if the connection is lost; the reason of `signal` once it is aborted
 */
export async function sendUpload(upload: Upload): Promise<Response> {
  const { onState, signal } = upload;
  onState('waiting');
  const releasePermit = await acquirePermit();
  try {
    for (;;) {
      signal?.throwIfAborted();
      onState(0);
      const response = await sendWithToken((token) => post(upload, token));
      if (response.status !== 429) return response;
      onState('waiting');
      await pause(1_000 * (retryAfterOf(response) ?? RETRY_DELAY), signal);
    }
  } finally {
    releasePermit();
  }
}

function post({ path, form, onState, signal, interrupted }: Upload, token: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    // fetch does not report upload progress.
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.setRequestHeader('authorization', `Bearer ${token}`);
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onState(total === 0 ? 1 : loaded / total),
    );
    request.addEventListener('load', () => {
      const retryAfter = request.getResponseHeader('retry-after');
      const headers = retryAfter === null ? {} : { 'retry-after': retryAfter };
      resolve(new Response(request.responseText, { status: request.status, headers }));
    });
    // A server that rejects a file early may close the connection before it responds.
    request.addEventListener('error', () => reject(new Error(interrupted)));
    request.addEventListener('abort', () => reject(signal?.reason as Error));
    signal?.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
