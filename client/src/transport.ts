import { retryAfterOf } from './errors.ts';

/** Sends a request and returns the response, like `fetch`. */
export type Transport = (request: Request) => Promise<Response>;

export interface TransportOptions {
  /** A personal access token or an access token, or a function that returns one. */
  token?: string | (() => Promise<string>) | undefined;
  fetch?: Transport | undefined;
  /** Maximum number of retries after a 429 or 503. Default: 4. */
  retries?: number | undefined;
  /** Maximum delay before a retry, in seconds; a longer `Retry-After` is not retried. Default: 60. */
  maxRetryDelay?: number | undefined;
}

const RETRIES = 4;
const MAX_RETRY_DELAY = 60;
/** Neither has changed anything. */
const RETRYABLE_STATUSES = new Set([429, 503]);

/**
 * Creates a transport that authenticates requests, adds an idempotency key to POST requests, and retries.
 * @param form body of an upload; its files are read again for each attempt instead of being buffered in memory
 */
export function createTransport(options: TransportOptions, form?: FormData): Transport {
  const { token, fetch = globalThis.fetch, retries = RETRIES, maxRetryDelay = MAX_RETRY_DELAY } = options;
  return async (input) => {
    const request = new Request(input);
    // Other operations ignore the key.
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', newIdempotencyKey());
    for (let attempt = 0; ; attempt += 1) {
      if (token !== undefined)
        request.headers.set('authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
      const isLast = attempt >= retries;
      const response = await fetch(
        form !== undefined ? withForm(request, form) : isLast ? request : request.clone(),
      );
      if (isLast || !RETRYABLE_STATUSES.has(response.status)) return response;
      const wait = retryAfterOf(response) ?? 2 ** attempt;
      if (wait > maxRetryDelay) return response;
      await response.body?.cancel();
      await pause(wait * 1_000, request.signal);
    }
  };
}

/** Uses getRandomValues because browsers provide randomUUID over HTTPS only. */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** Drops the content type, because its boundary differs for each attempt. */
function withForm({ url, method, headers, signal }: Request, form: FormData): Request {
  const requestHeaders = new Headers(headers);
  requestHeaders.delete('content-type');
  return new Request(url, { method, headers: requestHeaders, body: form, signal });
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
