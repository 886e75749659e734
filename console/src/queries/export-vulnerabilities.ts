import type { VulnerabilityFilter } from '../../../client/src/description.ts';
import { api } from './client.ts';
import { vulnerabilityFilterParams, type VulnerabilitySearch } from './vulnerabilities.ts';

/** What a list can be written as, each by its media type. */
export const EXPORT_FORMATS = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/** Reads all that a search finds as a stream of lines (operation 15). */
async function fetchExport(
  search: VulnerabilitySearch,
  format: ExportFormat,
  signal: AbortSignal | undefined,
  fields?: string,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const { sort: _, ...filters } = search;
  const { data } = await api.GET('/v1/vulnerabilities', {
    params: { query: { ...vulnerabilityFilterParams(filters), ...(fields === undefined ? {} : { fields }) } },
    headers: { accept: EXPORT_FORMATS[format] },
    parseAs: 'stream',
    ...(signal === undefined ? {} : { signal }),
  });
  if (data === null) throw new Error('The server sent no file.');
  return data;
}

/** @returns the ids of all that a filter finds */
export async function fetchIds(filter: VulnerabilityFilter, signal?: AbortSignal): Promise<number[]> {
  const text = await new Response(await fetchExport(filter, 'ndjson', signal, 'id')).text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: number }).id);
}

/**
 * Reads all that a search finds as a file, and tells how many rows were read so far.
 * @throws Error when the server stops in the middle, or the signal does
 */
export async function exportVulnerabilities(
  search: VulnerabilitySearch,
  format: ExportFormat,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<{ content: Blob; rows: number }> {
  const rows = new RowCount(format);
  const chunks: BlobPart[] = [];
  const reader = (await fetchExport(search, format, signal)).getReader();
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

/** Counts the rows of a file as it comes. A line end within quotes ends no row of CSV, whose first row is the header. */
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
