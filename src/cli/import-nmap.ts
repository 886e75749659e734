import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import { commandLine } from '../auth/callers.ts';
import { importReport } from '../importers/nmap-ingest.ts';
import { readNmapReportInThread } from '../importers/nmap-thread.ts';
import type { Flags } from '../config.ts';
import { io } from './io.ts';
import { withContext } from './open.ts';
import { requireOrganization } from './organization.ts';
import { HostsAsJson, HostTable } from './imported-hosts.ts';
import { Refusal, refusalOf } from './refusal.ts';

/** Small enough that a chunk and what becomes of it stay in the young generation of the heap. */
const CHUNK_BYTES = 64 * 1024;

interface HostFlags extends Flags {
  organization?: string;
  json?: boolean;
}

/** Imports the hosts of one report into the data folder while it is read, and lists them. */
export async function importNmap(
  file: string,
  { organization: uid, json, data }: HostFlags,
  command: Command,
): Promise<void> {
  if (uid === undefined) command.error("error: required option '--organization <uid>' not specified");
  await withContext(data === undefined ? {} : { data }, async ({ db, clock }) => {
    const organization = await requireOrganization(db.read, uid);
    const { chunks, size } = file === '-' ? standardInput() : await openReport(file);
    const { showProgress } = await import('./import-progress.ts');
    const progress = showProgress(io().stderr, size);
    const hosts = json === true ? new HostsAsJson(uid) : new HostTable();
    const { summary, failure } = await importReport(
      { db, actor: commandLine(clock()).actor, organizationId: organization.id, clock },
      readNmapReportInThread(chunks),
      (bytes, count) => progress.update(bytes, count),
      (imported) => hosts.add(imported),
    );
    progress.stop();
    const refusal = failure === undefined ? undefined : refusalOf(failure, command);
    await hosts.end(summary, refusal?.message ?? null);
    if (refusal !== undefined) {
      const { created, updated, unchanged } = summary.hosts;
      const kept =
        created + updated + unchanged > 0
          ? 'Everything up to the last whole host before that is imported.'
          : 'Nothing was imported.';
      const source = file === '-' ? 'standard input' : file;
      throw new Refusal(`${source}: ${refusal.message.replace(/\.?$/, '.')} ${kept}`);
    }
  });
}

interface Source {
  chunks: AsyncIterable<Uint8Array>;
  /** In bytes; absent when nobody knows. */
  size?: number;
}

function standardInput(): Source {
  return { chunks: io().stdin };
}

async function openReport(file: string): Promise<Source> {
  try {
    const handle = await open(file, constants.O_RDONLY);
    const status = await handle.stat();
    if (status.isDirectory()) {
      await handle.close();
      throw new Refusal(`${file} is a folder.`);
    }
    const chunks = handle.createReadStream({ highWaterMark: CHUNK_BYTES });
    return status.isFile() ? { chunks, size: status.size } : { chunks };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    throw new Refusal(
      code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code ?? String(error)}).`,
    );
  }
}
