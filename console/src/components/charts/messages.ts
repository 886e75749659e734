/** Strings of the charts. */
export const chartMessages = {
  day: 'Day',
  today: 'Today',
  date: 'Day',
  total: 'All',
  table: 'Open findings by day',
  caption: (days: number) => `Open at the end of each day, last ${days} days`,
  count: (count: number, severity: string) => `${count.toLocaleString()} ${severity.toLowerCase()}`,
  ofDay: (day: string, total: number, counts: readonly string[]) =>
    `${day}: ${counts.join(', ')}; ${total.toLocaleString()} open`,
  chart: ({
    first,
    highest,
    last,
  }: Record<'first' | 'highest', readonly [number, string]> & { last: number }) =>
    `Open findings at the end of each day: ${first[0].toLocaleString()} on ${first[1]}, at most ${highest[0].toLocaleString()} on ${highest[1]}, ${last.toLocaleString()} today.`,
  course: (first: number, last: number, days: number) =>
    `from ${first.toLocaleString()} to ${last.toLocaleString()} in ${days} days`,
} as const;
