import type { VulnerabilityFilter } from '../../../client/src/openapi-types.ts';
import { api } from './client.ts';
import { vulnerabilityFilterParams, type VulnerabilitySearch } from './vulnerabilities.ts';
import { queryMessages } from './messages.ts';
import { BYTE_ORDER_MARK } from './save-file.ts';

/** Export formats and their media types. */
const EXPORT_FORMATS = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/** Streams all matching vulnerabilities (operation 15). */
async function fetchExport(
  search: VulnerabilitySearch,
  format: ExportFormat,
  signal: AbortSignal | undefined,
  shape: { fields?: string; layout?: 'spreadsheet' },
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const { sort: _, ...filters } = search;
  const { data } = await api.GET('/v1/vulnerabilities', {
    params: { query: { ...vulnerabilityFilterParams(filters), ...shape } },
    headers: { accept: EXPORT_FORMATS[format] },
    parseAs: 'stream',
    ...(signal === undefined ? {} : { signal }),
  });
  if (data === null) throw new Error(queryMessages.vulnerability.noExport);
  return data;
}

/** Reads the ids of all matching vulnerabilities. */
export async function fetchIds(filter: VulnerabilityFilter, signal?: AbortSignal): Promise<number[]> {
  const text = await new Response(await fetchExport(filter, 'ndjson', signal, { fields: 'id' })).text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: number }).id);
}

/**
 * Downloads all matching vulnerabilities, a CSV in the layout for spreadsheets; `onRows` receives the number of rows so far.
 * @throws Error if the connection or the signal aborts
 */
export async function exportVulnerabilities(
  search: VulnerabilitySearch,
  format: ExportFormat,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<{ content: Blob; rows: number }> {
  const rows = new RowCount(format);
  const chunks: BlobPart[] = format === 'csv' ? [BYTE_ORDER_MARK] : [];
  const reader = (await fetchExport(search, format, signal, { layout: 'spreadsheet' })).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    rows.count(value);
    onRows(rows.rows);
  }
  return { content: new Blob(chunks, { type: EXPORT_FORMATS[format] }), rows: rows.rows };
}

const LINE_END = 0x0a;
const QUOTE = 0x22;

/** Counts the rows of a stream. In CSV, the header and line ends in quotes do not count. */
class RowCount {
  readonly #isCsv: boolean;
  #isQuoted = false;
  #lines = 0;

  constructor(format: ExportFormat) {
    this.#isCsv = format === 'csv';
  }

  count(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#isCsv && byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (byte === LINE_END && !this.#isQuoted) this.#lines += 1;
    }
  }

  get rows(): number {
    return Math.max(0, this.#lines - (this.#isCsv ? 1 : 0));
  }
}
