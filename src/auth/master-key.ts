import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const KEY_LENGTH = 32;
const KEY_FILE = 'master.key';

/** @returns the key that a text stands for: 32 bytes in base64, either alphabet; `undefined` when it is no such text */
export function parseMasterKey(text: string): KeyObject | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  return createSecretKey(Buffer.from(text, 'base64'));
}

/** @returns by what people tell two master keys apart; nobody can find the key by it */
export function masterKeyFingerprint(masterKey: KeyObject): string {
  const digest = createHmac('sha256', masterKey).update('assay master key').digest('hex');
  return (digest.slice(0, 16).match(/.{4}/g) ?? []).join('-');
}

/**
 * @returns the master key of a data folder; `undefined` when it has none
 * @throws Error when the file is damaged, or the folder cannot be read
 */
export function readMasterKeyFile(dataDirectory: string): KeyObject | undefined {
  const file = join(dataDirectory, 'keys', KEY_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const key = parseMasterKey(text.trim());
  if (key === undefined)
    throw new Error(`${file} is damaged: it must be ${KEY_LENGTH} bytes in base64. Restore it from a copy.`);
  return key;
}

/** Makes the master key of a data folder, readable by its owner only; of two that try, one makes it for both. */
export function createMasterKeyFile(dataDirectory: string): KeyObject {
  const folder = join(dataDirectory, 'keys');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  createOnce(folder, KEY_FILE, `${randomBytes(KEY_LENGTH).toString('base64')}\n`);
  const key = readMasterKeyFile(dataDirectory);
  if (key === undefined) throw new Error(`${join(folder, KEY_FILE)} was taken away while it was made.`);
  return key;
}

/** Writes a whole file under a name that does not exist yet, or leaves the one that is there. */
function createOnce(folder: string, name: string, content: string): void {
  const unfinished = join(folder, `.${name}.${process.pid}`);
  // On the disk before it has its name: a key that is lost after its first use takes all others with it.
  writeFileSync(unfinished, content, { mode: 0o600, flush: true });
  try {
    linkSync(unfinished, join(folder, name));
    flushFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
