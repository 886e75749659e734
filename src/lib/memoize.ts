/** Characters. Longer keys are rare and would fill the cache. */
const MAX_KEY_LENGTH = 256;

/**
 * Caches the results of a pure function, because reports repeat few values.
 * @param keyOf must differ wherever the result differs
 * @param maxEntries the cache is cleared when it is full
 */
export function memoize<Input, Result>(
  compute: (input: Input) => Result,
  keyOf: (input: Input) => string,
  maxEntries: number,
): (input: Input) => Result {
  const cache = new Map<string, { result: Result }>();
  return (input) => {
    const key = keyOf(input);
    if (key.length > MAX_KEY_LENGTH) return compute(input);
    let entry = cache.get(key);
    if (entry === undefined) {
      if (cache.size >= maxEntries) cache.clear();
      entry = { result: compute(input) };
      cache.set(key, entry);
    }
    return entry.result;
  };
}
