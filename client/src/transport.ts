import { retryAfterOf } from './errors.ts';

/** What takes a request to the server and its answer back; `fetch` is one. */
export type Transport = (request: Request) => Promise<Response>;

export interface TransportOptions {
  /** A personal access token or an access token, or what gets one; absent for a transport that needs none. */
  token?: string | (() => Promise<string>) | undefined;
  fetch?: Transport | undefined;
  /** How often a request is sent again that was answered with 429 or 503; 4 unless told. */
  retries?: number | undefined;
  /** The longest wait before one is, in seconds; what asks for a longer one is not tried again. 60 unless told. */
  maxRetryDelay?: number | undefined;
}

const RETRIES = 4;
const MAX_RETRY_DELAY = 60;
/** 429: nothing was looked at. 503: nothing was changed. */
const RETRYABLE_STATUSES = new Set([429, 503]);

/**
 * @param form what a request uploads: it is read from its files anew each time that it is sent, as a copy of what was read
 *   once would hold all of it in memory
 * @returns a transport that says who asks, names each creation, so that it may be sent again, and sends again what the
 *   server had no time for
 */
export function createTransport(options: TransportOptions, form?: FormData): Transport {
  const { token, fetch = globalThis.fetch, retries = RETRIES, maxRetryDelay = MAX_RETRY_DELAY } = options;
  return async (given) => {
    const request = new Request(given);
    // Operations that create nothing ignore it.
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', newIdempotencyKey());
    for (let attempt = 0; ; attempt += 1) {
      if (token !== undefined)
        request.headers.set('authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
      const last = attempt >= retries;
      const response = await fetch(
        form !== undefined ? withForm(request, form) : last ? request : request.clone(),
      );
      if (last || !RETRYABLE_STATUSES.has(response.status)) return response;
      const wait = retryAfterOf(response) ?? 2 ** attempt;
      if (wait > maxRetryDelay) return response;
      await response.body?.cancel();
      await pause(wait * 1_000, request.signal);
    }
  };
}

/** Of random bytes, which a browser has over plain http as well. */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** The type of a form names what stands between its parts, which is another one each time. */
function withForm({ url, method, headers, signal }: Request, form: FormData): Request {
  const own = new Headers(headers);
  own.delete('content-type');
  return new Request(url, { method, headers: own, body: form, signal });
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
