import { IconApi, IconDeviceMobile, IconServer, IconWorld } from '@tabler/icons-react';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Meter, StackBar } from '../../components/charts/bars.tsx';
import { OrganizationName } from '../../components/identity-marks.tsx';
import { type Column, RowLink, StackedCell } from '../../components/table-column.tsx';
import { Day } from '../../components/time.tsx';
import type { Assessment } from '../../queries/client.ts';
import type { AssessmentType } from '../../queries/enums.ts';
import type { PagedList } from '../../queries/paged-list.ts';
import { testingHoursQuery } from '../../queries/testing-sessions.ts';
import { OPEN_SEARCH, summaryQuery, vulnerabilityTotalQuery } from '../../queries/vulnerabilities.ts';
import { useIsStaff, usePermissions } from '../../session/permissions.ts';
import { daysFromToday } from '../home/dates.ts';
import { AssessmentStateBadge } from './assessment-state-badge.tsx';
import { assessmentMessages as messages } from './messages.ts';
import { Period } from './period.tsx';
import { scheduleOf } from './schedule.ts';
import classes from './columns.module.css';

export const ASSESSMENT_TYPE_LABELS: Readonly<Record<AssessmentType, string>> = {
  web: 'Web',
  host: 'Hosts',
  api: 'API',
  mobile: 'Mobile',
};

const TYPE_ICONS: Readonly<Record<string, typeof IconWorld>> = {
  web: IconWorld,
  host: IconServer,
  api: IconApi,
  mobile: IconDeviceMobile,
};

export const assessmentTypeLabel = (type: string): string =>
  (ASSESSMENT_TYPE_LABELS as Readonly<Record<string, string>>)[type] ?? type;

/** Rows with numbers of their own. With three requests each, they are 24 at most. */
const MAX_ROWS = 8;
/** Pixels of a table on a phone. */
const PHONE_TABLE = 600;

interface CellProps {
  assessment: Assessment;
  context: RowContext;
}

interface RowContext {
  today: string;
  /** Whether readers see several organizations. */
  isStaff: boolean;
  /** Uids of the rows with numbers of their own. */
  detailed: ReadonlySet<string>;
  /** The sum that fills a bar. */
  max: number;
}

function TypeIcon({ type }: { type: string }) {
  const Icon = TYPE_ICONS[type] ?? IconWorld;
  const label = assessmentTypeLabel(type);
  return (
    <span className={classes.type} role="img" aria-label={label} title={label}>
      <Icon size={18} stroke={1.75} aria-hidden />
    </span>
  );
}

function Days({ assessment, context: { today } }: CellProps) {
  const schedule = scheduleOf(assessment, today);
  if (schedule === undefined) return null;
  const { day, total } = schedule;
  return (
    <span className={classes.days}>
      <Meter value={Math.min(total, Math.max(0, day))} max={total} />
      {messages.schedule(day, total)}
    </span>
  );
}

function Open({
  assessment: { uid, open_vulnerability_count: open },
  context: { detailed, max },
}: CellProps) {
  const { data } = useQuery({
    ...summaryQuery({ assessment_id: [uid], ...OPEN_SEARCH }),
    enabled: open > 0 && detailed.has(uid),
  });
  return (
    <span className={classes.open}>
      {data !== undefined && open > 0 && <StackBar counts={data.by_severity} max={max} />}
      <b data-zero={open === 0 || undefined}>{open.toLocaleString()}</b>
    </span>
  );
}

function Overdue({ assessment: { uid, open_vulnerability_count: open }, context }: CellProps) {
  const search = { assessment_id: [uid], ...OPEN_SEARCH, due_until: daysFromToday(-1) };
  const { data = open === 0 ? 0 : undefined } = useQuery({
    ...vulnerabilityTotalQuery(search),
    enabled: open > 0 && context.detailed.has(uid),
  });
  return (
    <span
      className={classes.number}
      data-zero={data === 0 || undefined}
      data-bad={(data ?? 0) > 0 || undefined}
    >
      {data?.toLocaleString()}
    </span>
  );
}

function Hours({ assessment: { uid }, context: { detailed } }: CellProps) {
  const { data } = useQuery({ ...testingHoursQuery(uid), enabled: detailed.has(uid) });
  return (
    <span className={classes.number} data-zero={data?.stats_total === 0 || undefined}>
      {data !== undefined && messages.hours(data.stats_total)}
    </span>
  );
}

function Facts({ assessment, context }: CellProps) {
  return (
    <span className={classes.facts}>
      {context.isStaff && (
        <span>
          <OrganizationName uid={assessment.organization_uid} />
        </span>
      )}
      <span>
        <Period assessment={assessment} />
      </span>
    </span>
  );
}

const columnsOf = (context: RowContext, hasStates: boolean): readonly Column<Assessment>[] => [
  {
    id: 'type',
    header: 'Type',
    width: '20px',
    hidesHeader: true,
    cell: ({ type }) => <TypeIcon type={type} />,
  },
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(120px, 3fr)',
    sort: 'name',
    cell: (assessment) => (
      <StackedCell secondary={<Facts assessment={assessment} context={context} />}>
        <RowLink to={`/assessments/${assessment.uid}`} title={assessment.name}>
          {assessment.name}
        </RowLink>
      </StackedCell>
    ),
  },
  ...(hasStates
    ? [
        {
          id: 'state',
          header: 'State',
          width: '104px',
          sort: 'state',
          minTableWidth: 480,
          cell: ({ state }: Assessment) => <AssessmentStateBadge state={state} />,
        },
      ]
    : []),
  {
    id: 'days',
    header: messages.columns.days,
    width: 'minmax(96px, 1fr)',
    sort: 'starts_on',
    minTableWidth: 760,
    cell: (assessment) => <Days assessment={assessment} context={context} />,
  },
  {
    id: 'open',
    header: messages.columns.open,
    width: 'minmax(120px, 1.4fr)',
    isNumeric: true,
    cell: (assessment) => <Open assessment={assessment} context={context} />,
    narrow: {
      below: PHONE_TABLE,
      width: '48px',
      cell: ({ open_vulnerability_count: open }) => open.toLocaleString(),
    },
  },
  {
    id: 'overdue',
    header: messages.columns.overdue,
    width: '64px',
    isNumeric: true,
    minTableWidth: 680,
    cell: (assessment) => <Overdue assessment={assessment} context={context} />,
  },
  {
    id: 'hours',
    header: messages.columns.hours,
    width: '72px',
    isNumeric: true,
    minTableWidth: 860,
    cell: (assessment) => <Hours assessment={assessment} context={context} />,
  },
  {
    id: 'ends',
    header: messages.columns.ends,
    width: '96px',
    sort: 'ends_on',
    minTableWidth: PHONE_TABLE,
    cell: ({ ends_on }) => ends_on !== null && <Day on={ends_on} />,
  },
];

/**
 * The columns of a list of assessments and the height of its rows.
 * @param hasStates whether the rows have different states
 */
export function useAssessmentTable(list: PagedList<Assessment>, hasStates: boolean) {
  const isStaff = useIsStaff() === true;
  const isPhone = useMediaQuery('(max-width: 860px)', false, { getInitialValueInEffect: false });
  const permissions = usePermissions();
  const [today] = useState(() => daysFromToday(0));
  const rows = Array.from({ length: MAX_ROWS }, (_, index) => list.rowAt(index)).filter(
    (row) => row !== undefined && permissions.allows('read_vulnerabilities', row.uid),
  );
  const uids = rows.map((row) => row?.uid).join(' ');
  const max = Math.max(1, ...rows.map((row) => row?.open_vulnerability_count ?? 0));
  const columns = useMemo(
    () => columnsOf({ today, isStaff, detailed: new Set(uids.split(' ')), max }, hasStates),
    [today, isStaff, uids, max, hasStates],
  );
  return { columns, rowHeight: isPhone ? 60 : 52 };
}
