import { createWriteStream, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { AssayError } from '#client';
import { normalizeEmail } from '../auth/email-addresses.ts';
import { type DescribedOperation, rowSchema } from './openapi-operations.ts';
import type { LocalCommand } from './command.ts';
import { streams } from './streams.ts';
import { printResponse } from './print-response.ts';
import { keyValueLines, printJson, printLines } from './print.ts';
import { type AnyClient, type TargetFlags, withApiClient } from './command-target.ts';
import { errorCodeOf, CliError, userNotFound } from './errors.ts';
import { requireNamed } from './require-named.ts';
import { listRows, type CommandRequest } from './list-rows.ts';
import type { JsonRow } from './print-rows.ts';

export interface OperationCommand {
  /** Method and path, without parameter names: `GET /v1/users/{}`. */
  endpoint: string;
  /** Columns of the table. Default: the first scalar fields. */
  columns?: readonly string[];
  local?: LocalCommand;
  /** Maps options of the variant for the data directory to properties of the body. */
  bodyFields?: Readonly<Record<string, { member: string; convert?: (value: unknown) => unknown }>>;
  /** An option that the API does not have; `apply` returns the body with its value. */
  bodyOption?: {
    flags: string;
    description: string;
    choices: readonly string[];
    apply: (body: Readonly<Record<string, unknown>>, value: string) => Record<string, unknown>;
  };
  /** Query parameters of a request without this option, unless an option of the operation sets them. */
  defaultQuery?: { flags: string; description: string; query: Readonly<Record<string, unknown>> };
  /** Returns a row as the table shows it. */
  tableRow?: (row: JsonRow) => JsonRow;
  /** Options that only `handle` reads, with their descriptions. */
  localOptions?: Readonly<Record<string, string>>;
  /** Runs before the operation. @returns whether the command is done */
  handle?: (
    client: AnyClient,
    body: Readonly<Record<string, unknown>>,
    options: OperationOptions,
  ) => Promise<boolean>;
  /** A fixed body, in place of options for the body. */
  body?: Readonly<Record<string, unknown>>;
  /** Whether the id in the path may also be a user's email address or uid. */
  acceptsEmail?: boolean;
  /** Replaces the operation's summary. */
  description?: string;
  /** Replaces the generated example. */
  example?: string;
  /** Whether the result is about no objects, so that its filters may name one that does not exist. */
  isEmpty?: (result: JsonRow) => boolean;
  nextStep?: (result: JsonRow, response: Response) => string | undefined;
}

/** Options that are not part of the request. */
export interface OperationOptions extends TargetFlags {
  json?: boolean;
  jsonl?: boolean;
  csv?: boolean;
  limit?: number;
  /** Path, or "-" for standard input. */
  jsonBody?: string;
  /** Whether to skip a preview. */
  yes?: boolean;
  output?: string;
}

export interface OperationInput {
  path: Record<string, string>;
  query: Record<string, unknown>;
  header: Record<string, unknown>;
  body: Record<string, unknown>;
  files?: readonly string[] | undefined;
}

export async function runOperation(
  operation: DescribedOperation,
  verb: OperationCommand,
  input: OperationInput,
  flags: OperationOptions,
): Promise<void> {
  const init = {
    params: { path: input.path, query: input.query },
    headers: input.header as Record<string, string>,
    ...(input.files !== undefined
      ? { body: await buildForm(input.files) }
      : operation.body === undefined
        ? {}
        : { body: await buildBody(input.body, flags.jsonBody) }),
  };
  await withApiClient(flags, async (client) => {
    if (verb.acceptsEmail === true) input.path['id'] = await resolveUserId(client, input.path['id'] ?? '');
    if ((await verb.handle?.(client, input.body, flags)) === true) return;
    const row = rowSchema(operation);
    if (row !== undefined) return listRows(client, operation, verb, init, row, flags);
    if (isDownload(operation)) return download(client, operation, init, flags);
    const { data, response } = await client[operation.method as 'GET'](operation.path, init);
    if (verb.isEmpty?.(data as JsonRow) === true) await requireNamed(client, init.params.query);
    await printResponse(data, input.path, operation.method, flags);
    const next = flags.json === true ? undefined : verb.nextStep?.(data as JsonRow, response);
    if (next !== undefined) printLines(next);
  });
}

/** The fields of a user (operations 52 and 53) that identify it. */
interface UserRow {
  id: number;
  uid: string;
  email: string;
}

/**
 * Returns the id of a user, found through the API.
 * @param identifier email address, id or uid
 * @throws CliError if the user does not exist or is not visible to the caller
 */
async function resolveUserId(client: AnyClient, identifier: string): Promise<string> {
  if (/^\d+$/.test(identifier)) return identifier;
  const key = normalizeEmail(identifier);
  const isMeant = ({ uid, email }: UserRow) => uid === identifier || normalizeEmail(email) === key;
  const currentUser = await client.GET('/v1/users/whoami', {}).catch(undefinedIfForbidden);
  const self = currentUser?.data as UserRow | undefined;
  if (self !== undefined && isMeant(self)) return String(self.id);
  const search = identifier.includes('@') ? { 'filter[search]': identifier } : {};
  try {
    // The API lists banned users only on request.
    for (const banned of [false, true]) {
      const query = { ...search, 'filter[banned]': banned, 'page[size]': 200 };
      // The client does not know the types of the operations.
      const users = client.rows('/v1/users', { params: { query } }) as AsyncIterable<UserRow>;
      for await (const user of users) if (isMeant(user)) return String(user.id);
    }
  } catch (error) {
    undefinedIfForbidden(error);
  }
  throw userNotFound(identifier);
}

function undefinedIfForbidden(error: unknown): undefined {
  if (error instanceof AssayError && error.status === 403) return undefined;
  throw error;
}

export function isDownload({ method, responses }: DescribedOperation): boolean {
  return method === 'GET' && !('application/json' in responses);
}

async function buildBody(body: Record<string, unknown>, file: string | undefined): Promise<unknown> {
  if (file === undefined) return body;
  const text = file === '-' ? await textOf(streams().stdin) : readTextFile(file);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new CliError(`${file === '-' ? 'Standard input' : file} is not valid JSON.`, 2);
  }
  if (Object.keys(body).length === 0) return parsed;
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new CliError('Options can only be combined with --json-body if it contains a JSON object.', 2);
  return { ...parsed, ...body };
}

function readTextFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw cannotRead(file, error);
  }
}

const cannotRead = (file: string, error: unknown) =>
  new CliError(`Cannot read ${file} (${errorCodeOf(error) ?? String(error)}).`, 2);

async function buildForm(files: readonly string[]): Promise<FormData> {
  const form = new FormData();
  for (const file of files) {
    const content = await readFile(file).catch((error: unknown) => {
      throw cannotRead(file, error);
    });
    form.append('file', new Blob([content], { type: contentTypeOf(file) }), basename(file));
  }
  return form;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  json: 'application/json',
  xml: 'application/xml',
  har: 'application/json',
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  zip: 'application/zip',
};

const contentTypeOf = (file: string) =>
  CONTENT_TYPES[file.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';

async function download(
  client: AnyClient,
  operation: DescribedOperation,
  init: CommandRequest,
  { output, json }: OperationOptions,
): Promise<void> {
  const { data, response } = await client.GET(operation.path, { ...init, parseAs: 'stream' });
  const content =
    data === null || data === undefined
      ? Readable.from([])
      : Readable.fromWeb(data as Parameters<typeof Readable.fromWeb>[0]);
  if (output === '-') {
    for await (const chunk of content) streams().stdout.write(chunk as Uint8Array);
    return;
  }
  // The name comes from the uploader: ignore its directory and do not overwrite a file.
  const file = output ?? (basename(filenameOf(response) ?? '') || 'download');
  const target = createWriteStream(file, { flags: output === undefined ? 'wx' : 'w' });
  await pipeline(content, target).catch((error: unknown) => {
    throw errorCodeOf(error) === 'EEXIST'
      ? new CliError(`${file} already exists. Choose another name with --output.`)
      : error;
  });
  if (json === true) return printJson({ file, bytes: target.bytesWritten });
  printLines(...keyValueLines({ file, bytes: target.bytesWritten }));
}

/** Returns the file name of a Content-Disposition header (RFC 6266); the one in UTF-8 takes precedence. */
function filenameOf({ headers }: Response): string | undefined {
  const text = headers.get('content-disposition') ?? '';
  const encoded = /filename\*=utf-8''([^;]+)/i.exec(text)?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  return /filename="((?:[^"\\]|\\.)*)"/i.exec(text)?.[1]?.replace(/\\(.)/g, '$1');
}
