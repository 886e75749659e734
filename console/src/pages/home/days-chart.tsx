import '@mantine/charts/styles.css';
import { LineChart } from '@mantine/charts';
import { VisuallyHidden } from '@mantine/core';
import type { SummaryOfVulnerabilities } from '../../../../client/src/description.ts';

const DATE = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** What was reported and closed on each day. */
export default function DaysChart({ days }: Pick<SummaryOfVulnerabilities, 'days'>) {
  const sum = (name: 'opened' | 'closed') => days.reduce((total, day) => total + day[name], 0);
  return (
    <>
      <VisuallyHidden>
        {sum('opened')} were reported and {sum('closed')} closed.
      </VisuallyHidden>
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
          // As they are told of, not by their letters.
          legendProps={{ itemSorter: null }}
          strokeWidth={2}
        />
      </div>
    </>
  );
}
