import { toUtf8 } from './encodings.ts';
import { type JsonMatch, type JsonStreamOptions, compilePaths } from './json-paths.ts';
import { JsonScanner } from './json-scanner.ts';

export type { JsonMatch, JsonStreamOptions };

/**
 * Reads JSON as it comes in, its members in any order, and gives whole what stands at the paths: names joined by dots,
 * `*` for any name or index, `''` for the whole document (`['runs.*.tool', 'runs.*.results.*']`). Everything else is
 * passed over, however large it is. What lies within a piece is no piece of its own.
 * @throws ReportError with the byte where it is no JSON, ends too early, or holds a piece of more than 16 MiB; every
 *   piece that ended before was yielded
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
