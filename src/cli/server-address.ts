import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './refusal.ts';
import { writePrivateJson } from './private-file.ts';

/** Where a server listens, and which process it is. */
interface ServerAddress {
  origin: string;
  pid: number;
}

const fileIn = (dataDirectory: string) => join(dataDirectory, 'server.json');

/** Leaves word in the data folder where this process listens, for commands that make links; a server may have none. */
export function tellServerAddress(dataDirectory: string, origin: string): void {
  try {
    writePrivateJson(fileIn(dataDirectory), { origin, pid: process.pid } satisfies ServerAddress);
  } catch (error) {
    if (!['ENOENT', 'EACCES', 'EROFS'].includes(codeOf(error) ?? '')) throw error;
  }
}

/** Takes it back, unless another server has left its own in the meantime. */
export function forgetServerAddress(dataDirectory: string): void {
  if (read(dataDirectory)?.pid === process.pid) rmSync(fileIn(dataDirectory), { force: true });
}

/** @returns where the server of the data folder listens that runs now; `undefined` when none does */
export function serverAddress(dataDirectory: string): string | undefined {
  const address = read(dataDirectory);
  return address !== undefined && isAlive(address.pid) ? address.origin : undefined;
}

function read(dataDirectory: string): ServerAddress | undefined {
  try {
    const { origin, pid } = JSON.parse(readFileSync(fileIn(dataDirectory), 'utf8')) as Partial<ServerAddress>;
    return typeof origin === 'string' && URL.canParse(origin) && Number.isSafeInteger(pid) && Number(pid) > 0
      ? { origin, pid: Number(pid) }
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
