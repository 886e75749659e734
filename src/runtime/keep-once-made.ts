/**
 * Makes a value when it is first asked for, and keeps it. A failure is not kept: the next call tries again.
 * @returns a function that resolves with the value, or rejects as `make` did
 */
export function keepOnceMade<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= make().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}
