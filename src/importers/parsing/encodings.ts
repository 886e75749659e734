/**
 * Converts bytes to UTF-8 without a byte order mark. Recognises UTF-16 by its mark; anything else passes unchanged, and
 * decoding replaces invalid UTF-8 by U+FFFD.
 */
export async function* toUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let decoder: TextDecoder | undefined;
  let begun = false;
  let first: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    if (begun) {
      yield decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
      continue;
    }
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk]);
    if (first.length < 3) {
      first = first.slice();
      continue;
    }
    begun = true;
    decoder = decoderForBom(first);
    yield decoder === undefined ? stripBom(first) : Buffer.from(decoder.decode(first, { stream: true }));
  }
  if (!begun && first.length > 0) yield Buffer.from(decoderForBom(first)?.decode(first) ?? first);
  else if (decoder !== undefined) yield Buffer.from(decoder.decode());
}

/** @returns a decoder if the bytes begin with the byte order mark of UTF-16 (WHATWG Encoding, section 6.1) */
export function decoderForBom(bytes: Uint8Array): TextDecoder | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le');
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be');
  return undefined;
}

export function stripBom(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/**
 * Replaces lone surrogates by U+FFFD; only JSON escapes can produce them.
 * @param text the JSON that the value was parsed from
 */
export function replaceLoneSurrogates(value: unknown, text: string): unknown {
  return /\\u[dD][89a-fA-F]/.test(text) ? replaceDeep(value) : value;
}

/** The JSON reader limits the depth. */
function replaceDeep(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(replaceDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), replaceDeep(member)]),
  );
}
