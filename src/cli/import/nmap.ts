import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import { withInProcessApi } from '../command-target.ts';
import { CtrlC, formatLocation, type ImportJob } from './api.ts';
import { type HostOutput, HostsAsJson, type HostSummary, HostTable } from './host-table.ts';
import { importFiles, isInterrupted, notUploaded } from './import-files.ts';
import { findReports, type ReportFile, withReportFile } from './report-files.ts';
import type { FileResult } from './results.ts';
import { requireOrganization } from '../organization.ts';
import { withContext } from '../with-context.ts';
import type { Flags } from '../../config/config.ts';
import type { ReadConnection } from '../../db/engine.ts';
import { listHosts } from '../../domain/assets/list-hosts.ts';
import { streamNmapReport } from '../../importers/formats/nmap/nmap.ts';
import { decompress } from '../../importers/parsing/decompress.ts';
import type { Context } from '../../runtime/context.ts';

/** How many hosts are looked up at once. */
const MAX_HOSTS = 1_000;

interface NmapImportOptions extends Flags {
  organization?: string;
  json?: boolean;
}

/** Imports the hosts of one report into the data folder, as any report, and lists them. */
export async function importNmapHosts(
  file: string,
  flags: NmapImportOptions,
  command: Command,
): Promise<void> {
  const { organization: uid, json, data } = flags;
  if (uid === undefined) command.error("error: required option '--organization <uid>' not specified");
  const started = performance.now();
  const interruption = new CtrlC();
  const { cancel } = interruption;
  try {
    await withContext(data === undefined ? {} : { data }, async (context) => {
      const { id } = await requireOrganization(context.db.read, uid);
      const [report] = (await findReports([file])) as [ReportFile];
      // It is read again when it is imported, which standard input cannot be.
      await withReportFile(file, cancel, async (path) => {
        const { outcome, failure } = await importNmapFile(
          context,
          uid,
          { ...report, path },
          interruption,
          command,
        );
        if (outcome !== undefined) {
          const hosts = json === true ? new HostsAsJson(uid) : new HostTable();
          const { error, ...summary } = await previewHosts(context.db.read, id, path, outcome, hosts);
          await hosts.end({ ...summary, seconds: Math.round(performance.now() - started) / 1_000 }, error);
        }
        if (failure !== undefined) throw failure;
      }).catch((error: unknown) => {
        throw isInterrupted(error, interruption) ? notUploaded(report.label) : error;
      });
    });
  } finally {
    interruption.close();
  }
}

/** @returns what became of a report, unless nothing did, and what to end with when it was not imported whole */
async function importNmapFile(
  context: Context,
  organization: string,
  report: ReportFile,
  interruption: CtrlC,
  command: Command,
): Promise<{ outcome: FileResult | undefined; failure: unknown }> {
  let outcome: FileResult | undefined;
  const importing = {
    fields: [
      ['format', 'nmap'],
      ['organization_uid', organization],
    ] as const,
    columns: { format: 'nmap', mapping: undefined, prompt: undefined },
    output: { add: (one: FileResult) => void (outcome = one) },
    interruption,
    command,
    count: 1,
  };
  const failure = await withInProcessApi(
    context,
    (client) => importFiles({ ...importing, client }, [report]).catch((error: unknown) => error),
    { doesImports: true },
  );
  return { outcome, failure };
}

/**
 * Tells of the hosts that an import has read: the report says which they are, and the assets how they are now.
 * @returns what was done, and why the import ended early
 */
async function previewHosts(
  db: ReadConnection,
  organizationId: number,
  path: string,
  { job, error: refused }: FileResult,
  output: HostOutput,
): Promise<Omit<HostSummary, 'seconds'> & { error: string | null }> {
  const hosts = { created: 0, updated: 0, unchanged: 0, down: 0 };
  const error = job === undefined ? (refused ?? null) : jobError(job);
  const summary = { hosts, ports: {} as Record<string, number>, markedClosed: 0, bytes: 0, error };
  if (job === undefined || job.result === null) return summary;
  let read = 0;
  let up = 0;
  let batch = new Set<string>();
  const tell = async (): Promise<void> => {
    await output.add(await listHosts(db, organizationId, [...batch]));
    batch = new Set();
  };
  try {
    for await (const piece of streamNmapReport(decompress(() => createReadStream(path), job.file.size)())) {
      for (const host of piece.hosts) {
        if (read === job.progress.hosts) break;
        read += 1;
        if (host.down === true) continue;
        up += 1;
        batch.add(host.address);
        for (const { state } of host.ports) summary.ports[state] = (summary.ports[state] ?? 0) + 1;
        if (batch.size === MAX_HOSTS) await tell();
      }
      hosts.down = piece.down;
      summary.bytes = piece.bytes;
    }
  } catch (failure) {
    // What the import has told already.
    if (job.state !== 'failed') throw failure;
  }
  await tell();
  hosts.created = job.result.assets_created;
  hosts.updated = job.result.assets_updated;
  hosts.unchanged = Math.max(0, up - hosts.created - hosts.updated);
  summary.markedClosed = job.result.ports_closed;
  return summary;
}

function jobError(job: ImportJob): string | null {
  if (job.state === 'cancelled') return 'The import was cancelled.';
  if (job.error === null) return null;
  const place = formatLocation(job.error);
  return place === '' ? job.error.message : `${place}: ${job.error.message}`;
}
