import type { SummaryOfVulnerabilities } from '../../../../client/src/openapi-types.ts';

/** The numbers of a severity, one per day, oldest first. */
export interface BacklogSeries {
  name: string;
  values: readonly number[];
}

/** @returns how many were open at the end of each day, from those that are open today */
export function openByDay(openToday: number, days: SummaryOfVulnerabilities['days']): number[] {
  let open = openToday;
  return days
    .toReversed()
    .map((day) => {
      const endOfDay = open;
      open += day.closed - day.opened;
      return endOfDay;
    })
    .toReversed();
}

/** @returns the sums of all series, one per day */
export const totals = (series: readonly BacklogSeries[]): number[] =>
  (series[0]?.values ?? []).map((_value, day) =>
    series.reduce((sum, { values }) => sum + (values[day] ?? 0), 0),
  );

/** @returns the days since the first that had something open */
export function daysWithData(values: readonly number[]): number {
  const first = values.findIndex((value) => value > 0);
  return first === -1 ? 0 : values.length - first;
}

/** Steps of an axis between powers of ten. */
const STEPS = [1, 2, 5, 10] as const;
/** Lines above zero. */
const MAX_LINES = 4;

/** @returns the values of the lines of an axis from 0 to at least `max`: three to five */
export function axisTicks(max: number): number[] {
  const magnitude = 10 ** Math.floor(Math.log10(Math.max(1, max / MAX_LINES)));
  const step = Math.max(1, (STEPS.find((factor) => factor * magnitude * MAX_LINES >= max) ?? 10) * magnitude);
  const count = Math.max(2, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** @returns the lower and the upper edge of each series, stacked in their order */
export function stack(
  series: readonly BacklogSeries[],
): { name: string; lower: readonly number[]; upper: readonly number[] }[] {
  let lower: readonly number[] = (series[0]?.values ?? []).map(() => 0);
  return series.map(({ name, values }) => {
    const upper = values.map((value, day) => value + (lower[day] ?? 0));
    const area = { name, lower, upper };
    lower = upper;
    return area;
  });
}
