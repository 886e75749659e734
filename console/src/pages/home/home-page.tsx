import { Anchor, Button, Group, Loader, Paper, Progress, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { vulnerabilityTotal, hoursSince, runningImports } from '../../queries/dashboard.ts';
import { summary, type VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { errorText } from '../../components/notifications.tsx';
import { PageLayout } from '../../components/page.tsx';
import { SEVERITIES, SeverityBadge } from '../../components/severity-badge.tsx';
import { Time } from '../../components/time.tsx';
import { currentUser } from '../../session/current-user.ts';
import classes from './home-page.module.css';
import { GettingStarted } from './getting-started.tsx';
import { previousVisitEnd } from './last-visit.ts';

const DaysChart = lazy(() => import('./days-chart.tsx'));

/** The phases that are not closed. */
const OPEN_SEARCH: VulnerabilitySearch = { phase: ['new', 'open'] };
const OLDEST: VulnerabilitySearch = { ...OPEN_SEARCH, sort: 'resolved_at' };
/** Each with the days that it begins and ends with. */
const AGE_GROUPS = [
  ['days_7', 'Up to a week', 0, 7],
  ['days_30', 'Up to a month', 7, 30],
  ['days_90', 'Up to 3 months', 30, 90],
  ['older', 'Older', 90, undefined],
] as const;
const DAY_MS = 86_400_000;

/** @returns those that are open and were reported so many days ago, counted as the server does, from midnight (UTC) */
function ageGroup(from: number, to: number | undefined): VulnerabilitySearch {
  const begin = (days: number) =>
    new Date((Math.floor(Date.now() / DAY_MS) - days + 1) * DAY_MS).toISOString().replace('.000', '');
  return {
    ...OPEN_SEARCH,
    ...(to === undefined ? {} : { created_since: begin(to) }),
    ...(from === 0 ? {} : { created_until: begin(from) }),
  };
}
/** What is due within this many days is shown as due. */
const DUE_SOON_DAYS = 7;

/** What is mine, what is new, what is open, and what runs. */
export function Home() {
  const { data: all, error, refetch } = useQuery(summary({}));
  const isNew = all !== undefined && sum(all.by_severity) === 0;
  return (
    <PageLayout title="Home">
      {isNew && <GettingStarted />}
      <div className={classes.cards}>
        {!isNew && (
          <>
            <AssignedCard />
            <Card title="Retests that wait">
              <Count search={{ retest: ['requested'] }} />
            </Card>
          </>
        )}
        <HoursCard />
        <ImportsCard />
        {!isNew && <OpenCard />}
        {!isNew && (
          <Card title="Reported and closed, the last 90 days" full>
            {error !== null ? (
              <LoadError error={error} onRetry={refetch} />
            ) : all === undefined ? (
              <Skeleton height={220} />
            ) : (
              <Suspense fallback={<Skeleton height={220} />}>
                <DaysChart days={all.days} />
              </Suspense>
            )}
          </Card>
        )}
      </div>
    </PageLayout>
  );
}

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** What is open: how grave it is, and how old. */
function OpenCard() {
  const { data, error, refetch } = useQuery(summary(OPEN_SEARCH));
  const total = data && sum(data.by_severity);
  const shown = (bars: (read: NonNullable<typeof data>, whole: number) => ReactNode) =>
    error !== null ? (
      <LoadError error={error} onRetry={refetch} />
    ) : data === undefined || total === undefined ? (
      <Skeleton height={150} />
    ) : (
      <Stack gap={6}>{bars(data, total)}</Stack>
    );
  return (
    <>
      <Card title="Open by severity" wide>
        {shown(({ by_severity }, whole) =>
          SEVERITIES.map((severity) => (
            <Bar
              key={severity}
              label={<SeverityBadge severity={severity} />}
              severity={severity}
              count={by_severity[severity] ?? 0}
              total={whole}
              search={{ ...OPEN_SEARCH, severity: [severity] }}
            />
          )),
        )}
      </Card>
      <Card
        title="How long they have been open"
        wide
        more={
          <Anchor component={Link} to="/vulnerabilities" search={OLDEST as never} size="sm">
            Oldest first
          </Anchor>
        }
      >
        {shown(({ open_by_age }, whole) =>
          AGE_GROUPS.map(([age, label, from, to]) => (
            <Bar key={age} label={label} count={open_by_age[age]} total={whole} search={ageGroup(from, to)} />
          )),
        )}
      </Card>
    </>
  );
}

function AssignedCard() {
  const { data: who } = useQuery(currentUser);
  const [before] = useState(previousVisitEnd);
  const [due] = useState(() => new Date(Date.now() + DUE_SOON_DAYS * DAY_MS).toISOString().slice(0, 10));
  return (
    <>
      <Card title="Assigned to me, open">
        {who === undefined ? (
          <Loader size="sm" />
        ) : (
          <Count search={{ ...OPEN_SEARCH, assignee_id: [who.id] }} />
        )}
      </Card>
      <Card title={`Due within ${DUE_SOON_DAYS} days, or late`}>
        <Count search={{ ...OPEN_SEARCH, due_until: due, sort: 'due_on' }} />
      </Card>
      <Card title="New since your last visit">
        {before === undefined ? (
          <Text size="sm" c="dimmed">
            This is your first visit in this browser.
          </Text>
        ) : (
          <>
            <Count search={{ created_since: before }} />
            <Text size="xs" c="dimmed">
              You were here <Time at={before} />.
            </Text>
          </>
        )}
      </Card>
    </>
  );
}

function HoursCard() {
  const [month] = useState(() => {
    const now = new Date();
    return new Date(now.getFullYear(), now.getMonth(), 1).toISOString();
  });
  const { data, error, refetch } = useQuery(hoursSince(month));
  return (
    <Card title="Hours tested this month">
      {error !== null ? (
        <LoadError error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <Loader size="sm" />
      ) : (
        <Text className={classes.count}>{data.toLocaleString(undefined, { maximumFractionDigits: 1 })}</Text>
      )}
    </Card>
  );
}

function ImportsCard() {
  const { data, error, refetch } = useQuery(runningImports);
  return (
    <Card title="Imports that run">
      {error !== null && <LoadError error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Loader size="sm" />}
      {data?.length === 0 && (
        <Text size="sm" c="dimmed">
          None.{' '}
          <Anchor component={Link} to="/imports" size="sm">
            Import a report
          </Anchor>
        </Text>
      )}
      <Stack gap={6}>
        {data?.map(({ id, file, progress }) => (
          <div key={id}>
            <Anchor component={Link} to={`/imports/${id}`} size="sm" truncate="end">
              {file.filename}
            </Anchor>
            <Progress
              size="sm"
              aria-label={file.filename}
              value={progress.bytes_total === 0 ? 0 : (100 * progress.bytes_read) / progress.bytes_total}
            />
          </div>
        ))}
      </Stack>
    </Card>
  );
}

/** How many a search finds, which leads to them. */
function Count({ search }: { search: VulnerabilitySearch }) {
  const { data, error, refetch } = useQuery(vulnerabilityTotal(search));
  if (error !== null) return <LoadError error={error} onRetry={refetch} />;
  if (data === undefined) return <Loader size="sm" />;
  return (
    <Link to="/vulnerabilities" search={search} className={classes.count}>
      {data.toLocaleString()}
    </Link>
  );
}

interface BarProps {
  label: ReactNode;
  /** Gives the bar its colour. */
  severity?: string;
  count: number;
  total: number;
  /** Where it leads. */
  search: VulnerabilitySearch;
}

function Bar({ label, severity, count, total, search }: BarProps) {
  return (
    <Link to="/vulnerabilities" search={search} className={classes.bar}>
      <span className={classes.label}>{label}</span>
      <span className={classes.track} data-severity={severity} aria-hidden>
        <span style={{ width: `${total === 0 ? 0 : (100 * count) / total}%` }} />
      </span>
      <span className={classes.number}>{count.toLocaleString()}</span>
    </Link>
  );
}

/** Where a part could not be read; the others go on. */
function LoadError({ error, onRetry }: { error: Error; onRetry: () => unknown }) {
  return (
    <Text size="sm" component="div">
      {errorText(error)}{' '}
      <Button size="compact-xs" variant="light" onClick={() => void onRetry()}>
        Try again
      </Button>
    </Text>
  );
}

interface CardProps {
  title: string;
  wide?: boolean;
  full?: boolean;
  /** Beside the title. */
  more?: ReactNode;
  children: ReactNode;
}

function Card({ title, wide = false, full = false, more, children }: CardProps) {
  return (
    <Paper
      component="section"
      withBorder
      p="md"
      className={classes.card}
      data-wide={wide || undefined}
      data-full={full || undefined}
    >
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h6">
          {title}
        </Title>
        {more}
      </Group>
      {children}
    </Paper>
  );
}
