import { type Client, type ClientOptions, createTypedClient } from './client.ts';
import type { paths } from './openapi-types.ts';

export * from './client.ts';
export type * from './openapi-types.ts';

/** A client of every operation of the server. */
export type Assay = Client<paths>;

/** @returns a client of the server; nothing is sent before its first call */
export function createClient(options: ClientOptions): Assay {
  return createTypedClient<paths>(options);
}
