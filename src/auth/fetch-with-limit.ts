/** More than any metadata, key set or token response has, in bytes. */
const MAX_RESPONSE_SIZE = 1024 * 1024;

/** A request for something that an operator named. It has the caller's time limit; redirects are not followed. */
interface LimitedRequest {
  method: string;
  headers: Headers | Record<string, string>;
  body?: ArrayBuffer | ReadableStream | string | Uint8Array | URLSearchParams | null | undefined;
  redirect: 'manual';
  signal?: AbortSignal | undefined;
}

/**
 * `fetch` for answers of a sane size.
 * @throws Error for an answer that is larger, before the rest of it is read
 */
export async function fetchWithLimit(
  url: string,
  { body, signal, ...request }: LimitedRequest,
): Promise<Response> {
  const response = await fetch(url, {
    ...request,
    // Shared memory is all that the type of `fetch` leaves out, and nobody sends that.
    ...(body === undefined ? {} : { body: body as BodyInit | null }),
    ...(signal === undefined ? {} : { signal }),
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the rest.
    if (size > MAX_RESPONSE_SIZE) throw new Error(`The answer is larger than ${MAX_RESPONSE_SIZE} bytes.`);
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  // A response of these has no body, not even an empty one.
  const content = [204, 205, 304].includes(status) ? null : Buffer.concat(chunks);
  return new Response(content, { status, statusText, headers: withoutTransferHeaders(headers) });
}

/** @returns the headers without those that were true of the bytes on the wire */
function withoutTransferHeaders(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete('content-encoding');
  copy.delete('content-length');
  return copy;
}

/** @returns whether requests may go there: https, or http to this machine */
export function isHttpsOrLoopback(url: URL): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
}
