import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { databaseLocation, type DatabaseLocation } from '../config/config.ts';
import { errorCodeOf } from './errors.ts';
import { writePrivateJson } from './private-file.ts';

/** A running server: its URL, process and database. */
interface ServerUrlFile {
  origin: string;
  pid: number;
  database: string;
}

/** The path is no part of the name of a SQLite database, because its folder may be mounted elsewhere. */
const databaseName = (location: DatabaseLocation) =>
  location.databaseUrl === undefined ? 'assay.db' : databaseLocation(location);

const serverUrlPath = (dataDirectory: string) => join(dataDirectory, 'server.json');

/**
 * Writes the URL of this process to the data directory, for commands that create links. Ignores a read-only directory.
 */
export function writeServerUrl(location: DatabaseLocation, origin: string): void {
  try {
    const address: ServerUrlFile = { origin, pid: process.pid, database: databaseName(location) };
    writePrivateJson(serverUrlPath(location.dataDirectory), address);
  } catch (error) {
    if (!['ENOENT', 'EACCES', 'EROFS'].includes(errorCodeOf(error) ?? '')) throw error;
  }
}

/** Removes the file, unless another server has overwritten it. */
export function removeServerUrl({ dataDirectory }: DatabaseLocation): void {
  if (read(dataDirectory)?.pid === process.pid) rmSync(serverUrlPath(dataDirectory), { force: true });
}

/** Returns the URL of the server that is running on this database; `undefined` if none is. */
export function readServerUrl(location: DatabaseLocation): string | undefined {
  const address = read(location.dataDirectory);
  return address?.database === databaseName(location) && isAlive(address.pid) ? address.origin : undefined;
}

function read(dataDirectory: string): ServerUrlFile | undefined {
  try {
    const { origin, pid, database } = JSON.parse(
      readFileSync(serverUrlPath(dataDirectory), 'utf8'),
    ) as Partial<ServerUrlFile>;
    return typeof origin === 'string' &&
      URL.parse(origin) !== null &&
      Number.isSafeInteger(pid) &&
      Number(pid) > 0
      ? { origin, pid: Number(pid), database: String(database) }
      : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, but belongs to another user.
    return errorCodeOf(error) === 'EPERM';
  }
}
