/**
 * Grants a limited number of permits in the order of requests.
 * @returns a function that resolves with the release of a permit
 */
export function createSemaphore(permits: number): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let granted = 0;
  return async () => {
    if (granted >= permits) await new Promise<void>((resolve) => waiting.push(resolve));
    else granted += 1;
    return () => {
      const next = waiting.shift();
      if (next === undefined) granted -= 1;
      else next();
    };
  };
}
