import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { axisTicks, type BacklogSeries, stack, totals } from './backlog.ts';
import { scrollRegionProps } from '../scroll-region.ts';
import { chartMessages as messages } from './messages.ts';
import classes from './charts.module.css';

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const LONG_DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', timeZone: 'UTC' });
const MONTH = new Intl.DateTimeFormat(undefined, { month: 'short', timeZone: 'UTC' });

const HEIGHT = 176;
/** Around the areas; the months stand below. */
const MARGIN = { right: 1, top: 6, bottom: 20 } as const;
/** Pixels of a digit, and beside the numbers of the axis. */
const DIGIT = 7;
/** Pixels of the name of a month. */
const LABEL_WIDTH = 32;
/** The width before it is measured. */
const DEFAULT_WIDTH = 352;

interface BacklogProps {
  /** `2026-11-27` in UTC, oldest first. */
  dates: readonly string[];
  /** The first is at the bottom. */
  series: readonly BacklogSeries[];
}

/** A stacked area chart of open findings per day, by severity. Hovering or an arrow key shows the numbers of a day. */
export function BacklogChart({ dates, series }: BacklogProps) {
  const { ref, width: measured } = useElementSize();
  const [day, setDay] = useState<number>();
  const sums = totals(series);
  const ticks = axisTicks(Math.max(...sums));
  const width = measured || DEFAULT_WIDTH;
  const last = dates.length - 1;
  const start = (1 + Math.max(2, ...ticks.map((value) => value.toLocaleString().length))) * DIGIT;
  const x = (index: number) => start + ((width - start - MARGIN.right) * index) / Math.max(1, last);
  const y = (value: number) =>
    HEIGHT - MARGIN.bottom - ((HEIGHT - MARGIN.top - MARGIN.bottom) * value) / (ticks.at(-1) ?? 1);
  const path = (values: readonly number[]) =>
    values.map((value, index) => `${x(index).toFixed(1)} ${y(value).toFixed(1)}`).join('L');

  const readPointer = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width: shown } = currentTarget.getBoundingClientRect();
    const share = (((clientX - left) / shown) * width - start) / (width - start - MARGIN.right);
    setDay(Math.round(Math.min(1, Math.max(0, share)) * last));
  };
  const readKey = (event: KeyboardEvent) => {
    const current = day ?? last;
    const next = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setDay(Math.min(last, Math.max(0, next)));
  };
  return (
    <>
      <div ref={ref} className={classes.chart}>
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={chartText(dates, sums)}>
          {ticks.map((value) => (
            <g key={value}>
              <path className={classes.grid} d={`M${start} ${y(value)}H${width - MARGIN.right}`} />
              <text x={start - 8} y={y(value) + 4} textAnchor="end">
                {value.toLocaleString()}
              </text>
            </g>
          ))}
          {stack(series).map(({ name, lower, upper }) => (
            <g key={name} data-letter={name[0]}>
              <path
                className={classes.area}
                d={`M${path(upper)}${lower
                  .map((value, index) => `L${x(index).toFixed(1)} ${y(value).toFixed(1)}`)
                  .toReversed()
                  .join('')}Z`}
              />
              <path className={classes.edge} d={`M${path(upper)}`} />
            </g>
          ))}
          {monthTicks(dates)
            .filter(({ index }) => x(last) - x(index) > 2 * LABEL_WIDTH)
            .map(({ index, name }) => (
              <text key={index} x={x(index)} y={HEIGHT - 3} textAnchor="middle">
                {name}
              </text>
            ))}
          <text x={width - MARGIN.right} y={HEIGHT - 3} textAnchor="end">
            {messages.today}
          </text>
          {day !== undefined && (
            <path
              className={classes.line}
              d={`M${x(day).toFixed(1)} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}`}
            />
          )}
        </svg>
        <div
          className={classes.reader}
          role="slider"
          tabIndex={0}
          aria-label={messages.day}
          aria-valuemin={0}
          aria-valuemax={last}
          aria-valuenow={day ?? last}
          aria-valuetext={dayText(dates, series, sums, day ?? last)}
          onPointerMove={readPointer}
          onPointerLeave={() => setDay(undefined)}
          onBlur={() => setDay(undefined)}
          onKeyDown={readKey}
        />
      </div>
      <p className={classes.caption} aria-hidden={day !== undefined}>
        {day === undefined ? messages.caption(dates.length) : dayText(dates, series, sums, day)}
      </p>
    </>
  );
}

const formatDay = (date: string | undefined, format: Intl.DateTimeFormat) =>
  format.format(new Date(date ?? 0));

function dayText(
  dates: readonly string[],
  series: readonly BacklogSeries[],
  sums: readonly number[],
  day: number,
): string {
  const counts = series.map(({ name, values }) => messages.count(values[day] ?? 0, name));
  return messages.ofDay(formatDay(dates[day], DAY), sums[day] ?? 0, counts);
}

/** @returns the first, the highest and the last value, for those who do not see the chart */
function chartText(dates: readonly string[], sums: readonly number[]): string {
  const highest = Math.max(...sums);
  return messages.chart({
    first: [sums[0] ?? 0, formatDay(dates[0], LONG_DAY)],
    highest: [highest, formatDay(dates[sums.lastIndexOf(highest)], LONG_DAY)],
    last: sums.at(-1) ?? 0,
  });
}

/** @returns the index and the name of the first day of each month */
const monthTicks = (dates: readonly string[]) =>
  dates.flatMap((date, index) =>
    date.endsWith('-01') ? [{ index, name: MONTH.format(new Date(date)) }] : [],
  );

/** The same numbers as the chart, newest day first. */
export function BacklogTable({ dates, series }: BacklogProps) {
  const sums = totals(series);
  return (
    <div className={classes.scroll} {...scrollRegionProps(messages.table)}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th>{messages.date}</th>
            {series.map(({ name }) => (
              <th key={name} title={name} aria-label={name}>
                {name[0]}
              </th>
            ))}
            <th>{messages.total}</th>
          </tr>
        </thead>
        <tbody>
          {dates
            .map((date, day) => (
              <tr key={date}>
                <th scope="row">{formatDay(date, DAY)}</th>
                {series.map(({ name, values }) => (
                  <td key={name}>{values[day]?.toLocaleString()}</td>
                ))}
                <td>{sums[day]?.toLocaleString()}</td>
              </tr>
            ))
            .toReversed()}
        </tbody>
      </table>
    </div>
  );
}
