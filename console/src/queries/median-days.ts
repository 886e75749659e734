import type { Vulnerability } from '../../../client/src/openapi-types.ts';

const DAY_MS = 86_400_000;

/** @returns the median of the days between the times of each; `null` if there are none */
export function medianDays(fixed: readonly Pick<Vulnerability, 'created_at' | 'closed_at'>[]): number | null {
  const days = fixed
    .flatMap(({ created_at: from, closed_at: to }) =>
      to === null ? [] : [(Date.parse(to) - Date.parse(from)) / DAY_MS],
    )
    .toSorted((a, b) => a - b);
  const middle = days.length / 2;
  const [low, high] = [days[Math.ceil(middle) - 1], days[Math.floor(middle)]];
  return low === undefined || high === undefined ? null : Math.round((low + high) / 2);
}
