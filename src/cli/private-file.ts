import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';

/** Writes JSON into a file that is always whole under its name, and that only its owner reads. */
export function writePrivateJson(file: string, value: unknown): void {
  const unfinished = `${file}.${process.pid}.part`;
  const descriptor = openSync(unfinished, 'w', 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(unfinished, file);
}
