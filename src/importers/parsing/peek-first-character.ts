/**
 * Peeks at the start of a report.
 * @returns the first character that is neither white space nor a byte order mark, and a stream of all bytes
 */
export async function peekFirstCharacter(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ first: string | undefined; all: AsyncIterable<Uint8Array> }> {
  const rest = chunks[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let first: string | undefined;
  while (first === undefined) {
    const { value, done } = await rest.next();
    if (done === true) break;
    // The producer may reuse the chunk.
    const chunk = Uint8Array.prototype.slice.call(value);
    first = /[^\s\uFEFF]/.exec(new TextDecoder().decode(chunk))?.[0];
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
  return { first, all: all() };
}
