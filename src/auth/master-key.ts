import { createHmac, createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
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
import { createDataDirectory } from '../lib/data-directory.ts';

const KEY_LENGTH = 32;
const KEY_FILE = 'master.key';

/** Parses 32 bytes in base64 or base64url. @returns `undefined` for anything else */
export function parseMasterKey(text: string): KeyObject | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  return createSecretKey(Buffer.from(text, 'base64'));
}

/** @returns a short identifier of the key, from which the key cannot be derived */
export function masterKeyFingerprint(masterKey: KeyObject): string {
  const digest = createHmac('sha256', masterKey).update('assay master key').digest('hex');
  return (digest.slice(0, 16).match(/.{4}/g) ?? []).join('-');
}

/**
 * Reads the master key of a data folder.
 * @returns `undefined` if there is none
 * @throws Error if the file is damaged or cannot be read
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
    throw new Error(
      `${file} is damaged: it must contain ${KEY_LENGTH} bytes in base64. Restore it from a backup.`,
    );
  return key;
}

/**
 * Creates the master key of a data folder, readable by its owner only. Of two concurrent calls, both return the same
 * key.
 */
export function createMasterKeyFile(dataDirectory: string): KeyObject {
  const folder = join(dataDirectory, 'keys');
  createDataDirectory(dataDirectory);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  createOnce(folder, KEY_FILE, `${randomBytes(KEY_LENGTH).toString('base64')}\n`);
  const key = readMasterKeyFile(dataDirectory);
  if (key === undefined) throw new Error(`${join(folder, KEY_FILE)} was deleted while it was being created.`);
  return key;
}

/** Creates a complete file atomically, or leaves an existing one. */
function createOnce(folder: string, name: string, content: string): void {
  const temporary = join(folder, `.${name}.${randomUUID()}`);
  // Flushed before it is linked: losing the key after its first use would lose every key that it encrypts.
  writeFileSync(temporary, content, { mode: 0o600, flush: true });
  try {
    linkSync(temporary, join(folder, name));
    flushFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
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
