const MAX_CHARACTERS = 100;

/**
 * @returns the value as people and parsers can read it, as text or JSON and cut at 100 characters. No more of it is
 *   looked at than that: a hostile one may be megabytes long, or nested deeper than `JSON.stringify` can follow.
 */
export function formatRejectedValue(value: unknown): string {
  let text = '';
  // A character may be two units long.
  for (const part of typeof value === 'string' ? [value] : serializeInChunks(value)) {
    text += part.slice(0, 2 * MAX_CHARACTERS);
    if (text.length >= 2 * MAX_CHARACTERS) break;
  }
  return Array.from(text).slice(0, MAX_CHARACTERS).join('').toWellFormed();
}

/** What `JSON.stringify` gives for a parsed JSON value, bit by bit. */
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
    // Not Object.entries, which would copy all of a large one.
    for (const key in value) {
      yield `${separator}${JSON.stringify(key)}:`;
      separator = ',';
      yield* serializeInChunks((value as Record<string, unknown>)[key]);
    }
    yield '}';
  } else if (typeof value === 'string') yield JSON.stringify(value.slice(0, 2 * MAX_CHARACTERS));
  else yield JSON.stringify(value) ?? '';
}
