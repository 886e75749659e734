import { once } from 'node:events';
import { type IncomingMessage, request as askHttp } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

export interface EncodedRequest {
  method?: string;
  token?: string;
  accept?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends a request on a connection of its own, and does not read the response. */
export async function beginEncoded(
  url: string,
  encoding: string | undefined,
  { method = 'GET', token, accept, headers, body }: EncodedRequest = {},
): Promise<IncomingMessage> {
  const request = askHttp(url, {
    method,
    agent: false,
    headers: {
      ...(encoding === undefined ? {} : { 'accept-encoding': encoding }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(accept === undefined ? {} : { accept }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  onTestFinished(() => void request.destroy());
  request.on('error', () => undefined).end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** Returns the response as it was sent, with the decoded text. */
export async function getEncoded(url: string, encoding?: string, sent?: EncodedRequest) {
  const response = await beginEncoded(url, encoding, sent);
  const bytes = Buffer.concat(await response.toArray());
  const { statusCode: status, headers } = response;
  const used = headers['content-encoding'];
  const decode = { br: brotliDecompressSync, gzip: gunzipSync }[used ?? ''] ?? ((plain: Buffer) => plain);
  const text = bytes.length === 0 ? '' : decode(bytes).toString();
  return { status, headers, used, vary: headers.vary, size: bytes.length, text };
}
