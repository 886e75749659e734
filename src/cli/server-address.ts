import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { codeOf } from './refusal.ts';
import { writePrivateJson } from './private-file.ts';

/** Where a server listens, which process it is, and over which database. */
interface ServerAddress {
  origin: string;
  pid: number;
  database: string;
}

type Place = Pick<Config, 'databaseUrl' | 'dataDirectory'>;

/** @returns where a database is, for people, and without what nobody may read */
export function placeOf({ databaseUrl, dataDirectory }: Place): string {
  if (databaseUrl === undefined) return resolve(join(dataDirectory, 'assay.db'));
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

/** The database of a folder is the folder's, wherever that is mounted. */
const databaseOf = (place: Place) => (place.databaseUrl === undefined ? 'assay.db' : placeOf(place));

const fileIn = (dataDirectory: string) => join(dataDirectory, 'server.json');

/** Leaves word in the data folder where this process listens, for commands that make links; a server may have none. */
export function tellServerAddress(place: Place, origin: string): void {
  try {
    const address: ServerAddress = { origin, pid: process.pid, database: databaseOf(place) };
    writePrivateJson(fileIn(place.dataDirectory), address);
  } catch (error) {
    if (!['ENOENT', 'EACCES', 'EROFS'].includes(codeOf(error) ?? '')) throw error;
  }
}

/** Takes it back, unless another server has left its own in the meantime. */
export function forgetServerAddress({ dataDirectory }: Place): void {
  if (read(dataDirectory)?.pid === process.pid) rmSync(fileIn(dataDirectory), { force: true });
}

/** @returns where the server of the data folder listens that runs now over this database; `undefined` when none does */
export function serverAddress(place: Place): string | undefined {
  const address = read(place.dataDirectory);
  return address?.database === databaseOf(place) && isAlive(address.pid) ? address.origin : undefined;
}

function read(dataDirectory: string): ServerAddress | undefined {
  try {
    const { origin, pid, database } = JSON.parse(
      readFileSync(fileIn(dataDirectory), 'utf8'),
    ) as Partial<ServerAddress>;
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
    return codeOf(error) === 'EPERM';
  }
}
