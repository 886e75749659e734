import { toUtf8 } from './encodings.ts';
import { compilePaths } from './json-paths.ts';
import { type JsonMatch, JsonScanner, type JsonStreamOptions } from './json-scanner.ts';
import { ReportError } from '../report.ts';

export type { JsonMatch, JsonStreamOptions };

/**
 * Streams the values at the given paths of a JSON document: names joined by dots, `*` for any name or index, `''` for
 * the whole document (`['runs.*.tool', 'runs.*.results.*']`). Skips everything else, whatever its size. Values inside a
 * match are not matched again.
 * @throws ReportError with the byte if the document is invalid or truncated, or a match exceeds 16 MiB; yields the
 *   matches before it first
 */
export async function* streamJsonMatches(
  chunks: AsyncIterable<Uint8Array>,
  paths: readonly string[],
  options: JsonStreamOptions = {},
): AsyncGenerator<JsonMatch, void> {
  const scanner = new JsonScanner(compilePaths(paths, options.begins), options);
  for await (const chunk of toUtf8(chunks)) {
    let failure: unknown;
    try {
      scanner.write(chunk);
    } catch (error) {
      failure = error;
    }
    yield* scanner.takeMatches();
    if (failure !== undefined) throw failure;
  }
  scanner.end();
  yield* scanner.takeMatches();
}

/**
 * Collects parts of a report that others refer to, for formats whose members may come in any order. If the report is
 * truncated, the caller reads as far as it can and throws the returned error where it needs a part that is missing.
 * @param take receives each match; it must store a bounded part of them
 * @returns the error at which reading stopped
 */
export async function collectMatches(
  chunks: AsyncIterable<Uint8Array>,
  paths: readonly string[],
  take: (match: JsonMatch) => void,
  options: JsonStreamOptions = {},
): Promise<ReportError | undefined> {
  try {
    for await (const match of streamJsonMatches(chunks, paths, options)) take(match);
  } catch (error) {
    if (error instanceof ReportError) return error;
    throw error;
  }
  return undefined;
}
