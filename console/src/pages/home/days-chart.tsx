import '@mantine/charts/styles.css';
import { LineChart } from '@mantine/charts';
import { VisuallyHidden } from '@mantine/core';
import type { SummaryOfVulnerabilities } from '../../../../client/src/openapi-types.ts';
import { homeMessages } from './messages.ts';

const DATE = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Vulnerabilities reported and closed per day. */
export default function DaysChart({ days }: Pick<SummaryOfVulnerabilities, 'days'>) {
  const sum = (name: 'opened' | 'closed') => days.reduce((total, day) => total + day[name], 0);
  return (
    <>
      <VisuallyHidden>{homeMessages.historySummary(sum('opened'), sum('closed'))}</VisuallyHidden>
      <div aria-hidden>
        <LineChart
          h={220}
          data={days.map(({ date, opened, closed }) => ({
            date: DATE.format(new Date(date)),
            opened,
            closed,
          }))}
          dataKey="date"
          series={[
            { name: 'opened', label: 'Reported', color: 'accent.7' },
            { name: 'closed', label: 'Closed', color: 'teal.7', strokeDasharray: '5 4' },
          ]}
          xAxisProps={{ interval: 'equidistantPreserveStart' }}
          yAxisProps={{ allowDecimals: false }}
          lineChartProps={{ accessibilityLayer: false }}
          curveType="linear"
          withDots={false}
          withLegend
          // Keeps the order of `series`.
          legendProps={{ itemSorter: null }}
          strokeWidth={2}
        />
      </div>
    </>
  );
}
