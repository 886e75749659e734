import { toUtf8 } from './encodings.ts';
import { type JsonMatch, type JsonStreamOptions, compilePaths } from './json-paths.ts';
import { JsonScanner } from './json-scanner.ts';

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
  const scanner = new JsonScanner(compilePaths(paths), options);
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
