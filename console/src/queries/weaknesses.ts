import { queryOptions } from '@tanstack/react-query';

/** @returns the number of a weakness: 79 of "CWE-79"; 0 if it has none */
export const weaknessNumber = (id: string) => Number(/^(?:CWE-)?(\d+)$/i.exec(id.trim())?.[1] ?? 0);

/** Loads the names of common weaknesses by their numbers. */
export const weaknessNamesQuery = queryOptions({
  queryKey: ['weakness-names'],
  queryFn: async () => (await import('./cwe-names.ts')).CWE_NAMES,
  staleTime: Infinity,
});
