import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Creates a data directory that only its owner can read, with a `.gitignore` that keeps its keys and its database out of
 * repositories. Leaves an existing directory as it is: it may hold other files.
 */
export function createDataDirectory(path: string): void {
  const created = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (created !== undefined) writeFileSync(join(path, '.gitignore'), '*\n');
}
