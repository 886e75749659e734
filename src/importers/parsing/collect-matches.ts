import { ReportError } from '../report.ts';
import { type JsonMatch, streamJsonMatches } from './json-stream.ts';

/**
 * Collects parts of a report that others refer to, for formats whose members may come in any order. If the report is
 * truncated, the caller reads as far as it can and throws the returned error where it needs a part that is missing.
 * @param take receives each match; it must store a bounded part of them
 * @returns the error at which reading stopped
 */
export async function collectMatches(
  chunks: AsyncIterable<Uint8Array>,
  paths: readonly string[],
  take: (piece: JsonMatch) => void,
): Promise<ReportError | undefined> {
  try {
    for await (const piece of streamJsonMatches(chunks, paths)) take(piece);
  } catch (error) {
    if (error instanceof ReportError) return error;
    throw error;
  }
  return undefined;
}
