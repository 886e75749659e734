import { readFileSync } from 'node:fs';
import { ROOT } from '../paths.ts';

const FOLDER = new URL('assets/demo/', ROOT);

/** Reads a file of `assets/demo`. */
export function readDemoFile(name: string): Buffer {
  return readFileSync(new URL(name, FOLDER));
}

/** Returns a function that reads a JSON file of `assets/demo` once, when it is first called. */
// The type is what the caller says that the file holds.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function lazyDemoData<T>(name: string): () => T {
  let data: T | undefined;
  return () => (data ??= JSON.parse(readDemoFile(name).toString('utf8')) as T);
}
