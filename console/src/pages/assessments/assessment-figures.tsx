import { Button } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Meter, StackBar } from '../../components/charts/bars.tsx';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { Day } from '../../components/time.tsx';
import type { VersionedAssessment } from '../../queries/assessments.ts';
import { SEVERITIES } from '../../queries/enums.ts';
import { daysToFixQuery } from '../../queries/home.ts';
import { phaseOf, STATUS_IDS, statusName } from '../../queries/statuses.ts';
import { latestSessionsQuery, testingHoursQuery } from '../../queries/testing-sessions.ts';
import {
  listAddress,
  OPEN_SEARCH,
  summaryQuery,
  vulnerabilityTotalQuery,
} from '../../queries/vulnerabilities.ts';
import { daysFromToday } from '../home/dates.ts';
import classes from './assessment-figures.module.css';
import { hoursByWeek } from './hours-by-week.ts';
import { figureMessages as messages } from './messages.ts';
import { Period } from './period.tsx';
import { scheduleOf } from './schedule.ts';

const CLOSED_STATUSES = STATUS_IDS.filter((id) => phaseOf(id) === 'closed');

interface FiguresProps {
  assessment: VersionedAssessment;
  /** Undefined without permission. */
  onEdit: (() => void) | undefined;
}

/** The dates, open and closed findings, and hours of an assessment. */
export function AssessmentFigures({ assessment, onEdit }: FiguresProps) {
  return (
    <div className={classes.figures}>
      <Dates assessment={assessment} onEdit={onEdit} />
      {assessment.permissions?.read_vulnerabilities !== false && (
        <>
          <OpenFindings assessment={assessment} />
          <ClosedFindings uid={assessment.uid} />
          <Hours uid={assessment.uid} />
        </>
      )}
    </div>
  );
}

interface FigureProps {
  title: string;
  /** Undefined until it is read. */
  value: ReactNode;
  detail?: ReactNode;
  children?: ReactNode;
}

const Figure = ({ title, value, detail, children }: FigureProps) => (
  <section aria-label={title}>
    <h2>{title}</h2>
    <p className={classes.value}>
      {value} {detail !== undefined && <small>{detail}</small>}
    </p>
    {children}
  </section>
);

function Dates({ assessment, onEdit }: FiguresProps) {
  const { starts_on: start, ends_on: end } = assessment;
  const [today] = useState(() => daysFromToday(0));
  const schedule = scheduleOf(assessment, today);
  if (schedule === undefined)
    return (
      <Figure title={messages.dates} value={<Period assessment={assessment} />}>
        {onEdit !== undefined && (
          <Button size="xs" variant="default" className={classes.button} onClick={onEdit}>
            {messages.setDates}
          </Button>
        )}
      </Figure>
    );
  const { day, total } = schedule;
  return (
    <Figure title={messages.dates} value={messages.day(day, total)} detail={messages.daysLeft(day, total)}>
      <Meter value={Math.min(total, Math.max(0, day))} max={total} />
      <p className={classes.ends}>
        <Day on={start ?? ''} />
        <Day on={end ?? ''} />
      </p>
    </Figure>
  );
}

function OpenFindings({
  assessment: { uid, vulnerability_count: all },
}: {
  assessment: VersionedAssessment;
}) {
  const search = { assessment_id: [uid] };
  const { data } = useQuery(summaryQuery({ ...search, ...OPEN_SEARCH }));
  const counts = data?.by_severity;
  const open = counts === undefined ? undefined : SEVERITIES.reduce((sum, name) => sum + counts[name], 0);
  return (
    <Figure title={messages.open} value={open?.toLocaleString()} detail={messages.ofAll(all)}>
      {counts !== undefined && open !== undefined && open > 0 && (
        <>
          <StackBar counts={counts} max={open} />
          <p className={classes.legend}>
            {SEVERITIES.filter((name) => counts[name] > 0).map((name) => (
              <Link key={name} to="/vulnerabilities" search={{ ...search, severity: [name] }}>
                <SeverityMark severity={name} size="sm" />
                <b>{counts[name].toLocaleString()}</b>
              </Link>
            ))}
          </p>
        </>
      )}
    </Figure>
  );
}

function ClosedFindings({ uid }: { uid: string }) {
  const search = { assessment_id: [uid] };
  const totals = useQueries({
    queries: CLOSED_STATUSES.map((id) => vulnerabilityTotalQuery({ ...search, status_id: [id] })),
  });
  const { data: days } = useQuery(daysToFixQuery(search));
  const closed = CLOSED_STATUSES.flatMap((id, index) => {
    const count = totals[index]?.data ?? 0;
    return count === 0 ? [] : [{ id, count }];
  });
  const sum = totals.some(({ data }) => data === undefined)
    ? undefined
    : closed.reduce((total, { count }) => total + count, 0);
  return (
    <Figure
      title={messages.closed}
      value={sum?.toLocaleString()}
      detail={days === undefined || days === null ? undefined : messages.daysToFix(days)}
    >
      <p className={classes.legend}>
        {closed.map(({ id, count }) => (
          <Link key={id} to="/vulnerabilities" search={listAddress({ ...search, status_id: [id] })}>
            <StatusMark id={id} />
            <b>{count.toLocaleString()}</b>
            <span aria-hidden>{statusName(id).toLowerCase()}</span>
          </Link>
        ))}
      </p>
    </Figure>
  );
}

function Hours({ uid }: { uid: string }) {
  const { data: hours } = useQuery(testingHoursQuery(uid));
  const { data } = useQuery(latestSessionsQuery(uid));
  const weeks = data === undefined ? undefined : hoursByWeek(data.sessions);
  return (
    <Figure
      title={messages.hours}
      value={hours !== undefined && messages.count(hours.stats_total)}
      detail={weeks === undefined ? undefined : messages.thisWeek(weeks.at(-1) ?? 0)}
    >
      {weeks !== undefined && weeks.some((week) => week > 0) && <Weeks hours={weeks} />}
    </Figure>
  );
}

/** Of the drawing: the width of a week, the space between two, and the height. */
const WEEK = { width: 20, gap: 4, height: 36 } as const;

function Weeks({ hours }: { hours: readonly number[] }) {
  const max = Math.max(...hours);
  return (
    <svg
      className={classes.weeks}
      viewBox={`0 0 ${hours.length * (WEEK.width + WEEK.gap) - WEEK.gap} ${WEEK.height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={messages.byWeek(hours)}
    >
      {hours.map((value, index) => {
        const height = Math.max(1, (WEEK.height * value) / max);
        return (
          <rect
            // eslint-disable-next-line react/no-array-index-key
            key={index}
            x={index * (WEEK.width + WEEK.gap)}
            y={WEEK.height - height}
            width={WEEK.width}
            height={height}
          />
        );
      })}
    </svg>
  );
}
