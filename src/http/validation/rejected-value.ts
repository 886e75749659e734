const MAX_CHARACTERS = 100;

/**
 * Returns the value as text or JSON, truncated to 100 characters. Reads no more than that: a hostile value may be
 * megabytes long, or nested too deep for `JSON.stringify`.
 */
export function formatRejectedValue(value: unknown): string {
  let text = '';
  // A character may take two code units.
  for (const part of typeof value === 'string' ? [value] : serializeInChunks(value)) {
    text += part.slice(0, 2 * MAX_CHARACTERS);
    if (text.length >= 2 * MAX_CHARACTERS) break;
  }
  return Array.from(text).slice(0, MAX_CHARACTERS).join('').toWellFormed();
}

/** Yields what `JSON.stringify` returns for a parsed JSON value. */
function* serializeInChunks(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    yield '[';
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ',';
      yield* serializeInChunks(item);
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null) {
    yield '{';
    let separator = '';
    // Object.entries would copy a large object.
    for (const key in value) {
      yield `${separator}${JSON.stringify(key)}:`;
      separator = ',';
      yield* serializeInChunks((value as Record<string, unknown>)[key]);
    }
    yield '}';
  } else if (typeof value === 'string') yield JSON.stringify(value.slice(0, 2 * MAX_CHARACTERS));
  else yield JSON.stringify(value) ?? '';
}
