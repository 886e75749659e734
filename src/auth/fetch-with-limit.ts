/** Bytes: more than any metadata, key set or token response has. */
const MAX_RESPONSE_SIZE = 1024 * 1024;

/** A request to a URL that an operator configured. The caller sets the timeout; redirects are not followed. */
interface LimitedRequest {
  method: string;
  headers: Headers | Record<string, string>;
  body?: ArrayBuffer | ReadableStream | string | Uint8Array | URLSearchParams | null | undefined;
  redirect: 'manual';
  signal?: AbortSignal | undefined;
}

/**
 * `fetch` with a limit of the response's size.
 * @throws Error for a larger response, without reading the rest
 */
export async function fetchWithLimit(
  url: string,
  { body, signal, ...request }: LimitedRequest,
): Promise<Response> {
  const response = await fetch(url, {
    ...request,
    // The type of `fetch` excludes only shared memory, which no caller sends.
    ...(body === undefined ? {} : { body: body as BodyInit | null }),
    ...(signal === undefined ? {} : { signal }),
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the response.
    if (size > MAX_RESPONSE_SIZE) throw new Error(`The response is larger than ${MAX_RESPONSE_SIZE} bytes.`);
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  // Responses with these statuses must not have a body.
  const content = [204, 205, 304].includes(status) ? null : Buffer.concat(chunks);
  return new Response(content, { status, statusText, headers: withoutTransferHeaders(headers) });
}

/** Removes the headers that describe the encoded body. */
function withoutTransferHeaders(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete('content-encoding');
  copy.delete('content-length');
  return copy;
}

/** Whether a URL is safe to send secrets to: https, or http to this machine. */
export function isHttpsOrLoopback(url: URL): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
}
