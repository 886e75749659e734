/**
 * Creates a value on the first call and shares it with later ones. A failure is not cached: the next call tries again.
 * @returns a function that resolves with the value, or rejects as `load` did
 */
export function memoizeAsync<T>(load: () => Promise<T>): () => Promise<T> {
  let cached: Promise<T> | undefined;
  return () => {
    cached ??= load().catch((error: unknown) => {
      cached = undefined;
      throw error;
    });
    return cached;
  };
}
