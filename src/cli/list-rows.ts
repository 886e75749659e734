import type { AnyClient } from './command-target.ts';
import {
  alternativesOf,
  type DescribedOperation,
  type OpenApiSchema,
  schemaMembers,
} from './openapi-operations.ts';
import { MAX_TABLE_COLUMNS } from './print-response.ts';
import { type JsonRow, printRows, type RowFormat } from './print-rows.ts';
import { writeText } from './print.ts';
import { requireNamed, requireNamedIfEmpty } from './require-named.ts';
import type { OperationCommand, OperationOptions } from './run-operation.ts';

export interface CommandRequest {
  params: { path: Record<string, string>; query: Record<string, unknown> };
  headers: Record<string, string>;
}

/**
 * Prints the rows of an operation that lists.
 * @param row the schema of a row
 */
export async function listRows(
  client: AnyClient,
  operation: DescribedOperation,
  verb: OperationCommand,
  request: CommandRequest,
  row: OpenApiSchema,
  flags: OperationOptions,
): Promise<void> {
  const { json, jsonl, csv, limit } = flags;
  const { query } = request.params;
  const isSpreadsheet =
    query['fields'] === undefined && operation.parameters.some(({ name }) => name === 'layout');
  if (csv === true && (isSpreadsheet || limit === undefined) && 'text/csv' in operation.responses)
    return printCsv(
      client,
      operation,
      request,
      isSpreadsheet ? { layout: 'spreadsheet', ...query } : query,
      limit,
    );
  const format: RowFormat =
    json === true ? 'json' : jsonl === true ? 'jsonl' : csv === true ? 'csv' : 'table';
  const size = operation.parameters.find(({ name }) => /^(page\[size\]|perPage|per_page)$/.test(name));
  const largest = Math.min(size?.schema.maximum ?? 200, 1_000);
  const sized = size === undefined ? query : { ...query, [size.name]: Math.min(limit ?? largest, largest) };
  const selected = selectedFields(query);
  const all = Object.keys(schemaMembers(row).members).filter((name) => selected?.has(name) ?? true);
  const columns = { all, table: selected === undefined ? tableColumns(row, verb) : all };
  const rows = client.rows(operation.path, { ...request, params: { ...request.params, query: sized } });
  const checked = requireNamedIfEmpty(rows as AsyncIterable<JsonRow>, client, query);
  const { tableRow = (shown: JsonRow) => shown } = verb;
  const shown = format === 'table' ? mapRows(checked, tableRow) : checked;
  await printRows(takeRows(shown, limit), format, columns, 'No results.');
}

/** Prints the CSV of the server. A list without rows is checked before its heading is printed. */
async function printCsv(
  client: AnyClient,
  operation: DescribedOperation,
  request: CommandRequest,
  query: Readonly<Record<string, unknown>>,
  limit = Infinity,
): Promise<void> {
  const { data } = await client.GET(operation.path, {
    params: { ...request.params, query },
    headers: { ...request.headers, accept: 'text/csv' },
    parseAs: 'stream',
  });
  let heading = '';
  let count = 0;
  for await (const records of splitRecords((data ?? []) as AsyncIterable<Uint8Array>)) {
    const rows = heading === '' ? records.slice(1) : records;
    if (heading === '') heading = records[0] ?? '';
    if (rows.length === 0) continue;
    await writeText((count === 0 ? heading : '') + rows.slice(0, limit - count).join(''));
    count += rows.length;
    if (count >= limit) return;
  }
  if (count > 0) return;
  await requireNamed(client, query);
  await writeText(heading);
}

/** Yields the complete records of each chunk of a CSV (RFC 4180): a line end within quotes ends no record. */
async function* splitRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let pending = '';
  let isQuoted = false;
  for await (const chunk of chunks) {
    const records: string[] = [];
    const text = pending + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let index = pending.length; index < text.length; index += 1) {
      const character = text[index];
      if (character === '"') isQuoted = !isQuoted;
      else if (character === '\n' && !isQuoted) {
        records.push(text.slice(start, index + 1));
        start = index + 1;
      }
    }
    pending = text.slice(start);
    if (records.length > 0) yield records;
  }
}

async function* mapRows(
  rows: AsyncIterable<JsonRow>,
  map: (row: JsonRow) => JsonRow,
): AsyncGenerator<JsonRow> {
  for await (const row of rows) yield map(row);
}

async function* takeRows(rows: AsyncIterable<JsonRow>, limit = Infinity): AsyncGenerator<JsonRow> {
  let remaining = limit;
  for await (const row of rows) {
    yield row;
    remaining -= 1;
    if (remaining <= 0) return;
  }
}

function selectedFields({ fields }: Readonly<Record<string, unknown>>): Set<string> | undefined {
  return typeof fields === 'string'
    ? new Set(['id', 'uid', ...fields.split(',').map((name) => name.trim())])
    : undefined;
}

const SCALARS = new Set(['integer', 'number', 'string', 'boolean']);

function tableColumns(row: OpenApiSchema, { columns }: OperationCommand): string[] {
  const { members } = schemaMembers(row);
  const knownColumns = columns?.filter((name) => name in members);
  if (knownColumns !== undefined && knownColumns.length > 0) return knownColumns;
  return Object.entries(members)
    .filter(
      ([name, schema]) =>
        name !== 'description' && alternativesOf(schema).some(({ type }) => SCALARS.has(String(type))),
    )
    .map(([name]) => name)
    .slice(0, MAX_TABLE_COLUMNS);
}
