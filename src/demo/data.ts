import { readFileSync } from 'node:fs';
import { ROOT } from '../paths.ts';

const FOLDER = new URL('assets/demo/', ROOT);

/** Reads a file of `assets/demo`. */
export function readDemoFile(name: string): Buffer {
  return readFileSync(new URL(name, FOLDER));
}

/**
 * Returns a function that reads a JSON file of `assets/demo` once, when it is first called. The caller states its type.
 */
export function lazyDemoData(name: string): () => unknown {
  let data: unknown;
  return () => (data ??= JSON.parse(readDemoFile(name).toString('utf8')));
}
