import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { access, constants, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { streams } from '../streams.ts';
import { errorCodeOf, CliError } from '../errors.ts';

export interface ReportFile {
  path: string;
  /** Shown to the user: the path as given, or the path within a given folder. */
  label: string;
  name: string;
}

/** How often a watched folder is listed, in milliseconds. */
const POLL_INTERVAL = 1_000;
/** How many intervals a file must be unchanged before it is imported. */
const SETTLE_INTERVALS = 2;

/**
 * Returns the reports in the order given. Reports of a folder are sorted by name, without hidden files and subfolders.
 * @param words files, folders, and "-" for standard input
 * @throws CliError for a missing file or an empty folder
 */
export async function findReports(words: readonly string[]): Promise<ReportFile[]> {
  const all: ReportFile[] = [];
  for (const word of words) {
    if (!isFolder(word)) {
      const names =
        word === '-'
          ? { label: 'standard input', name: 'standard-input' }
          : { label: word, name: basename(word) };
      all.push({ path: word, ...names });
      continue;
    }
    const files = await listFiles(word);
    if (files.length === 0) throw new CliError(`The folder ${word} has no files.`);
    all.push(...files);
  }
  if (all.filter(({ path }) => path === '-').length > 1)
    throw new CliError('Standard input ("-") can be given only once.', 2);
  return all;
}

/** @throws CliError if `mustExist` and the path does not exist */
export function isFolder(path: string, mustExist = true): boolean {
  try {
    return path !== '-' && (mustExist || existsSync(path)) && statSync(path).isDirectory();
  } catch (error) {
    throw unreadableFile(path, error);
  }
}

export function unreadableFile(path: string, error: unknown): CliError {
  const code = errorCodeOf(error);
  return new CliError(
    code === 'ENOENT' ? `File ${path} not found.` : `Cannot read ${path} (${code ?? String(error)}).`,
  );
}

async function listFiles(folder: string): Promise<ReportFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw unreadableFile(folder, error);
  });
  return entries
    .filter((entry) => !entry.name.startsWith('.') && !entry.isDirectory())
    .map(({ name }) => ({ path: join(folder, name), label: join(folder, name), name }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Yields the reports in folders, and new and changed ones until the signal aborts. Yields a file once it has not
 * changed for two intervals, because a program may still be writing it, and again only after another change.
 * @param interval milliseconds
 */
export async function* watchFolders(
  folders: readonly string[],
  signal: AbortSignal,
  interval = POLL_INTERVAL,
): AsyncGenerator<ReportFile> {
  let hasListed = false;
  const seenFiles = new Map<string, { version: string; since: number; isGiven: boolean }>();
  while (!signal.aborted) {
    const listings = await Promise.all(
      folders.map((folder) =>
        listFiles(folder).catch((error: unknown) => {
          // A folder on a network may be temporarily unavailable.
          if (!hasListed) throw error;
          return undefined;
        }),
      ),
    );
    hasListed = true;
    const present = listings.flatMap((files) => files ?? []);
    for (const file of present) {
      const status = await stat(file.path).catch(() => undefined);
      if (status?.isFile() !== true) continue;
      const version = `${status.size} ${status.mtimeMs}`;
      let seenFile = seenFiles.get(file.path);
      if (seenFile?.version !== version) {
        seenFile = { version, since: Date.now(), isGiven: false };
        seenFiles.set(file.path, seenFile);
      }
      // Compares local times only: the clock of a file server may differ.
      if (seenFile.isGiven || Date.now() - seenFile.since < SETTLE_INTERVALS * interval) continue;
      seenFile.isGiven = true;
      yield file;
      if (signal.aborted) return;
    }
    // Files of an unavailable folder may still exist.
    if (!listings.includes(undefined))
      for (const path of seenFiles.keys())
        if (!present.some((file) => file.path === path)) seenFiles.delete(path);
    await delay(interval, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Runs `work` with a report as a regular file. Copies standard input and pipes first, since a scanner may pause longer
 * than a request may, and an upload may be retried.
 * @param signal aborts the copy
 * @throws UnreadableFile, whose message follows the name of the report
 */
export async function withReportFile<T>(
  path: string,
  signal: AbortSignal,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (path !== '-') {
    await access(path, constants.R_OK).catch((error: unknown) => {
      throw new UnreadableFile(`cannot be read (${errorCodeOf(error) ?? String(error)}).`);
    });
    if ((await stat(path)).isFile()) return work(path);
  }
  const folder = mkdtempSync(join(tmpdir(), 'assay-import-'));
  try {
    const copy = join(folder, 'report');
    const source = path === '-' ? streams().stdin : createReadStream(path);
    await pipeline(source, createWriteStream(copy, { mode: 0o600 }), { signal });
    return await work(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A report that was found but cannot be read. */
export class UnreadableFile extends CliError {}
