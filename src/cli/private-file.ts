import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';

/** Writes JSON into a file atomically, readable by its owner only. */
export function writePrivateJson(file: string, value: unknown): void {
  const temporary = `${file}.${process.pid}.part`;
  const descriptor = openSync(temporary, 'w', 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, file);
}
