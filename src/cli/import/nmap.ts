import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import { withInProcessApi } from '../command-target.ts';
import { InterruptSignal, formatLocation, type RemoteImport } from './api.ts';
import { type HostOutput, HostsAsJson, type HostSummary, HostTable } from './host-table.ts';
import { importFiles, isInterrupted, uploadCancelled } from './import-files.ts';
import { findReports, type ReportFile, withReportFile } from './report-files.ts';
import type { FileResult } from './results.ts';
import { requireOrganization } from '../organization.ts';
import { withContext } from '../with-context.ts';
import type { Flags } from '../../config/config.ts';
import type { ReadConnection } from '../../db/database.ts';
import { listHosts } from '../../domain/assets/list-hosts.ts';
import { streamNmapReport } from '../../importers/formats/nmap/nmap.ts';
import { decompress } from '../../importers/parsing/decompress.ts';
import type { Context } from '../../context.ts';

/** Number of hosts that one query lists. */
const MAX_HOSTS = 1_000;

interface NmapImportOptions extends Flags {
  organization?: string;
  json?: boolean;
}

/** Imports one nmap report into the data directory and lists its hosts. */
export async function importNmapHosts(
  file: string,
  flags: NmapImportOptions,
  command: Command,
): Promise<void> {
  const { organization: uid, json, data } = flags;
  if (uid === undefined) command.error("error: required option '--organization <uid>' not specified");
  const started = performance.now();
  const interruption = new InterruptSignal();
  const { cancel } = interruption;
  try {
    await withContext(data === undefined ? {} : { data }, async (context) => {
      const { id } = await requireOrganization(context.db.read, uid);
      const [report] = (await findReports([file])) as [ReportFile];
      // The report is read twice, so standard input is copied to a file.
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
        throw isInterrupted(error, interruption) ? uploadCancelled(report.label) : error;
      });
    });
  } finally {
    interruption.close();
  }
}

/** Returns the result, if any, and the error of an incomplete import. */
async function importNmapFile(
  context: Context,
  organization: string,
  report: ReportFile,
  interruption: InterruptSignal,
  command: Command,
): Promise<{ outcome: FileResult | undefined; failure: unknown }> {
  let outcome: FileResult | undefined;
  const importing = {
    fields: [
      ['format', 'nmap'],
      ['organization_uid', organization],
    ] as const,
    columns: { format: 'nmap', mapping: undefined, prompt: undefined },
    output: { add: (result: FileResult) => void (outcome = result) },
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
 * Writes the current state of the hosts that an import has read.
 * @returns the summary, and the error if the import ended early
 */
async function previewHosts(
  db: ReadConnection,
  organizationId: number,
  path: string,
  { job, error: uploadError }: FileResult,
  output: HostOutput,
): Promise<Omit<HostSummary, 'seconds'> & { error: string | null }> {
  const hosts = { created: 0, updated: 0, unchanged: 0, down: 0 };
  const error = job === undefined ? (uploadError ?? null) : jobError(job);
  const summary = { hosts, ports: {} as Record<string, number>, markedClosed: 0, bytes: 0, error };
  if (job === undefined || job.result === null) return summary;
  let read = 0;
  let upCount = 0;
  let batch = new Set<string>();
  const flush = async (): Promise<void> => {
    await output.add(await listHosts(db, organizationId, [...batch]));
    batch = new Set();
  };
  try {
    for await (const chunk of streamNmapReport(decompress(() => createReadStream(path), job.file.size)())) {
      for (const host of chunk.hosts) {
        if (read === job.progress.hosts) break;
        read += 1;
        if (host.down === true) continue;
        upCount += 1;
        batch.add(host.address);
        for (const { state } of host.ports) summary.ports[state] = (summary.ports[state] ?? 0) + 1;
        if (batch.size === MAX_HOSTS) await flush();
      }
      hosts.down = chunk.down;
      summary.bytes = chunk.bytes;
    }
  } catch (failure) {
    // If the import failed, its own error is reported instead.
    if (job.state !== 'failed') throw failure;
  }
  await flush();
  hosts.created = job.result.assets_created;
  hosts.updated = job.result.assets_updated;
  hosts.unchanged = Math.max(0, upCount - hosts.created - hosts.updated);
  summary.markedClosed = job.result.ports_closed;
  return summary;
}

function jobError(job: RemoteImport): string | null {
  if (job.state === 'cancelled') return 'The import was cancelled.';
  if (job.error === null) return null;
  const location = formatLocation(job.error);
  return location === '' ? job.error.message : `${location}: ${job.error.message}`;
}
