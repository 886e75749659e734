import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { access, constants, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { streams } from '../streams.ts';
import { errorCodeOf, CliError } from '../errors.ts';

/** A report on this machine. */
export interface ReportFile {
  /** Where it lies. */
  path: string;
  /** As it is told to people: the path that was typed, or the name in a folder that was. */
  label: string;
  /** As the import calls it. */
  name: string;
}

/** How often a watched folder is looked at, and how long a file has to rest until it counts as whole, in milliseconds. */
const LOOK_EVERY = 1_000;
const REST = 2_000;

/**
 * @param words files, folders, and "-" for standard input
 * @returns the reports that they name, in their order, those of a folder by name; what begins with a dot is left out, and
 *   so are the folders in it
 * @throws Refusal for what is not there, and a folder without a file
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
    const within = await listFiles(word);
    if (within.length === 0) throw new CliError(`There is no file in ${word}.`);
    all.push(...within);
  }
  if (all.filter(({ path }) => path === '-').length > 1)
    throw new CliError('Standard input can be read once.', 2);
  return all;
}

/** @throws Refusal for what is not there, where it has to be */
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
    code === 'ENOENT' ? `There is no file ${path}.` : `${path} cannot be read (${code ?? String(error)}).`,
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
 * Waits for reports in folders: those that are there, and what appears or changes. One is given when it has rested for two
 * seconds, as who writes it may still be at it, and again only when it has changed since.
 * @param signal ends it
 */
export async function* watchFolders(
  folders: readonly string[],
  signal: AbortSignal,
  { every = LOOK_EVERY, rest = REST } = {},
): AsyncGenerator<ReportFile> {
  let hasLooked = false;
  const known = new Map<string, { version: string; since: number; isGiven: boolean }>();
  while (!signal.aborted) {
    const looks = await Promise.all(
      folders.map((folder) =>
        listFiles(folder).catch((error: unknown) => {
          // A folder that was there may be away for a while, as those on a network are.
          if (!hasLooked) throw error;
          return undefined;
        }),
      ),
    );
    hasLooked = true;
    const there = looks.flatMap((files) => files ?? []);
    for (const file of there) {
      const status = await stat(file.path).catch(() => undefined);
      if (status?.isFile() !== true) continue;
      const version = `${status.size} ${status.mtimeMs}`;
      let one = known.get(file.path);
      if (one?.version !== version) {
        one = { version, since: Date.now(), isGiven: false };
        known.set(file.path, one);
      }
      // By our own clock alone: who wrote the time of a file may have another one.
      if (one.isGiven || Date.now() - one.since < rest) continue;
      one.isGiven = true;
      yield file;
      if (signal.aborted) return;
    }
    // What cannot be seen now may still be there.
    if (!looks.includes(undefined))
      for (const path of known.keys()) if (!there.some((file) => file.path === path)) known.delete(path);
    await delay(every, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Runs `work` with the report as a file. Standard input and pipes become one first, as a request may not rest for as long
 * as a scanner does, and is sent again where the server had no time.
 * @param signal ends the wait for standard input and pipes
 * @throws UnreadableFile, whose message stands behind the name of the report
 */
export async function withReportFile<T>(
  path: string,
  signal: AbortSignal,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (path !== '-') {
    await access(path, constants.R_OK).catch((error: unknown) => {
      throw new UnreadableFile(`it cannot be read (${errorCodeOf(error) ?? String(error)}).`);
    });
    if ((await stat(path)).isFile()) return work(path);
  }
  const folder = mkdtempSync(join(tmpdir(), 'assay-import-'));
  try {
    const kept = join(folder, 'report');
    const source = path === '-' ? streams().stdin : createReadStream(path);
    await pipeline(source, createWriteStream(kept, { mode: 0o600 }), { signal });
    return await work(kept);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A report that was there when the command began, or has a name in a folder, and cannot be read. */
export class UnreadableFile extends CliError {}
