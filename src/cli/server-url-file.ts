import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { errorCodeOf } from './errors.ts';
import { writePrivateJson } from './private-file.ts';

/** Where a server listens, which process it is, and over which database. */
interface ServerUrlFile {
  origin: string;
  pid: number;
  database: string;
}

type DatabaseLocation = Pick<Config, 'databaseUrl' | 'dataDirectory'>;

/** @returns where a database is, for people, and without what nobody may read */
export function databaseLocation({ databaseUrl, dataDirectory }: DatabaseLocation): string {
  if (databaseUrl === undefined) return resolve(join(dataDirectory, 'assay.db'));
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

/** The database of a folder is the folder's, wherever that is mounted. */
const databaseName = (place: DatabaseLocation) =>
  place.databaseUrl === undefined ? 'assay.db' : databaseLocation(place);

const serverUrlPath = (dataDirectory: string) => join(dataDirectory, 'server.json');

/** Leaves word in the data folder where this process listens, for commands that make links; a server may have none. */
export function writeServerUrl(place: DatabaseLocation, origin: string): void {
  try {
    const address: ServerUrlFile = { origin, pid: process.pid, database: databaseName(place) };
    writePrivateJson(serverUrlPath(place.dataDirectory), address);
  } catch (error) {
    if (!['ENOENT', 'EACCES', 'EROFS'].includes(errorCodeOf(error) ?? '')) throw error;
  }
}

/** Takes it back, unless another server has left its own in the meantime. */
export function removeServerUrl({ dataDirectory }: DatabaseLocation): void {
  if (read(dataDirectory)?.pid === process.pid) rmSync(serverUrlPath(dataDirectory), { force: true });
}

/** @returns where the server of the data folder listens that runs now over this database; `undefined` when none does */
export function readServerUrl(place: DatabaseLocation): string | undefined {
  const address = read(place.dataDirectory);
  return address?.database === databaseName(place) && isAlive(address.pid) ? address.origin : undefined;
}

function read(dataDirectory: string): ServerUrlFile | undefined {
  try {
    const { origin, pid, database } = JSON.parse(
      readFileSync(serverUrlPath(dataDirectory), 'utf8'),
    ) as Partial<ServerUrlFile>;
    return typeof origin === 'string' && URL.canParse(origin) && Number.isSafeInteger(pid) && Number(pid) > 0
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
    // It is there, and somebody else's.
    return errorCodeOf(error) === 'EPERM';
  }
}
