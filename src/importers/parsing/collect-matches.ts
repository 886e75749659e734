import { ReportError } from '../report.ts';
import { type JsonMatch, streamJsonMatches } from './json-stream.ts';

/**
 * Reads a report for what its other parts need to be understood, as its members may come in any order. A report that ends
 * early ends this as well: whoever reads it again takes what it can, and throws this where it meets what was not reached.
 * @param take gets each piece; it keeps a bounded part of them
 * @returns where the report could be read no further
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
