import { expect } from 'vitest';
import type { Context } from '../../src/context.ts';
import { inList } from '../../src/db/dialect-sql.ts';
import { eventually } from './eventually.ts';
import type { RequestOptions, TestResponse, TestServer } from './server.ts';
import { nextImportId } from '../../src/domain/imports/start-import.ts';

/** A part of a form: a field, or a file with a name. */
export type FormPart = readonly [name: string, content: string | Buffer, filename?: string];

/** @returns a multipart request with these parts in order */
export function formOf(parts: readonly FormPart[], headers: Record<string, string> = {}): RequestOptions {
  const boundary = 'between-the-parts';
  const pieces = parts.flatMap(([name, content, filename]) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n`,
    content,
    '\r\n',
  ]);
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
    bytes: Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece as string))),
  };
}

/** Uploads a report (operation 65). */
export function uploadReport(
  server: TestServer,
  token: string,
  report: string | Buffer,
  fields: Readonly<Record<string, string>> = {},
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const parts: FormPart[] = [...Object.entries(fields), ['file', report, 'report.xml']];
  return server.request('POST', '/v1/imports', { token, ...formOf(parts, headers) });
}

/**
 * Returns an import once it has ended. The time limit starts anew with each step of its progress, because an import may
 * take long on a slow machine.
 */
export async function waitForImport(
  server: Pick<TestServer, 'request'> & { context: Pick<Context, 'db'> },
  token: string,
  id: number,
  hasEnded = (job: any): boolean => job.finished_at !== null,
): Promise<any> {
  // Polling the database is cheaper than requests.
  const { read } = server.context.db;
  let lastRow: string | undefined;
  const waitForChange = () =>
    eventually(async () => {
      const row = await read
        .selectFrom('imports')
        .select(['state', 'progress', 'undone', 'finished_at'])
        .where('id', '=', id)
        .executeTakeFirst();
      const now = JSON.stringify(row);
      if (now === lastRow) throw new Error(`Import ${id} is still ${now}.`);
      lastRow = now;
    });
  for (;;) {
    await waitForChange();
    const { body } = await server.request('GET', `/v1/imports/${id}`, { token });
    if (hasEnded(body)) return body;
  }
}

/** Waits until the texts of all imported vulnerabilities can be searched: a job adds them after the import. */
export const waitUntilSearchable = ({ context }: TestServer): Promise<void> =>
  eventually(async () => {
    const rows = await context.db.read.selectFrom('search_index_queue').selectAll().limit(1).execute();
    expect(rows).toEqual([]);
  });

/**
 * Inserts an import without a job, so that it never runs.
 * @param columns values other than the defaults
 */
export async function insertImport(
  { context }: TestServer,
  columns: { organizationId: number } & Partial<{
    assessmentId: number | null;
    createdBy: number;
    state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
    startedAt: number;
    finishedAt: number;
    undone: string;
  }>,
): Promise<number> {
  const options = { targets: [], tags: [], whenGone: 'keep', scannedAt: null, minimumSeverity: null };
  const { id } = await context.db.write(async (tx) =>
    tx
      .insertInto('imports')
      .values({
        id: await nextImportId(tx, false),
        organization_id: columns.organizationId,
        assessment_id: columns.assessmentId ?? null,
        created_by: columns.createdBy ?? null,
        state: columns.state ?? 'queued',
        format: 'nmap',
        filename: 'own.xml',
        size: 1,
        sha256: '0'.repeat(64),
        blob_key: null,
        options: JSON.stringify({ ...options, carry: false, dryRun: false }),
        started_by_caller: '{}',
        result: null,
        preview: null,
        error: null,
        undone: columns.undone ?? null,
        report_at: null,
        created_at: 1,
        started_at: columns.startedAt ?? null,
        finished_at: columns.finishedAt ?? null,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return id;
}

/** Turns vulnerabilities into findings that an import marked as gone. Those without an import become its own. */
export async function insertGoneFindings(
  { context }: TestServer,
  { ids, by, at }: { ids: readonly number[]; by: number; at: number },
): Promise<void> {
  await context.db.write(async (tx) => {
    const rows = await tx
      .updateTable('vulnerabilities')
      .set((eb) => ({ import_id: eb.fn.coalesce('import_id', eb.val(by)) }))
      .where((eb) => inList(tx, eb.ref('id'), ids))
      .returning(['id as vulnerability_id', 'organization_id', 'assessment_id'])
      .execute();
    const defaults = { source: 'zap', content_hash: '', tags: null, cover_key: null, cover_host: null };
    const values = rows.map((row) => ({
      ...row,
      ...defaults,
      identity_hash: String(row.vulnerability_id),
      gone_at: at,
      gone_import_id: by,
    }));
    const detected = {
      seen_at: 1,
      first_seen_at: 1,
      content: 0,
      is_made: 1,
      is_timed: 1,
      carried_status_id: null,
    };
    const detections = rows.map(({ vulnerability_id }) => ({ vulnerability_id, import_id: by, ...detected }));
    for (let start = 0; start < values.length; start += 500) {
      await tx
        .insertInto('scanner_findings')
        .values(values.slice(start, start + 500))
        .execute();
      await tx
        .insertInto('detections')
        .values(detections.slice(start, start + 500))
        .execute();
    }
  });
}
