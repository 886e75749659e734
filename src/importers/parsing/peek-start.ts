/**
 * Peeks at the start of a report.
 * @returns its first two characters that are neither white space nor a byte order mark, or fewer at its end, and a stream
 *   of all bytes
 */
export async function peekStart(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ start: string; all: AsyncIterable<Uint8Array> }> {
  const rest = chunks[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let start = '';
  while (start.length < 2) {
    const { value, done } = await rest.next();
    if (done === true) break;
    // The producer may reuse the chunk.
    const chunk = Uint8Array.prototype.slice.call(value);
    // The byte order mark and the zeros of UTF-16 are no text in UTF-8.
    start += new TextDecoder()
      .decode(chunk)
      .replace(/[\s\uFEFF\uFFFD\0]+/g, '')
      .slice(0, 2);
    seen.push(chunk);
  }
  async function* all(): AsyncGenerator<Uint8Array, void> {
    try {
      yield* seen.splice(0);
      for (;;) {
        const { value, done } = await rest.next();
        if (done === true) return;
        yield value;
      }
    } finally {
      await rest.return?.();
    }
  }
  return { start: start.slice(0, 2), all: all() };
}
