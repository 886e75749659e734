import { Anchor, Button, Group, Loader, Paper, Progress, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { runningImportsQuery } from '../../queries/imports.ts';
import { hoursSinceQuery } from '../../queries/testing-sessions.ts';
import {
  listAddress,
  OPEN_SEARCH,
  summaryQuery,
  vulnerabilityTotalQuery,
  type VulnerabilitySearch,
} from '../../queries/vulnerabilities.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { errorText } from '../../components/notifications.tsx';
import { PageLayout } from '../../components/page.tsx';
import { SEVERITIES } from '../../queries/enums.ts';
import { SeverityMark } from '../../components/marks.tsx';
import { Time } from '../../components/time.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { currentUserQuery, useCanImport } from '../../session/permissions.ts';
import { GettingStarted } from './getting-started.tsx';
import { homeMessages as messages } from './messages.ts';
import classes from './home-page.module.css';
import { commonMessages } from '../../components/messages.ts';

const DaysChart = lazy(() => import('./days-chart.tsx'));

const OLDEST: VulnerabilitySearch = { ...OPEN_SEARCH, sort: 'resolved_at' };
/** The key in `open_by_age`, the minimum age and the exclusive maximum age in days. */
const AGE_GROUPS = [
  ['days_7', 0, 7],
  ['days_30', 7, 30],
  ['days_90', 30, 90],
  ['older', 90, undefined],
] as const;
const DAY_MS = 86_400_000;
/** Milliseconds without opening the page after which a visit has ended. */
const VISIT_TIMEOUT = 30 * 60_000;
const LAST_SEEN_KEY = 'assay-last-seen';
const PREVIOUS_VISIT_KEY = 'assay-visit-before';

/**
 * @returns a search for open vulnerabilities that are at least `from` and less than `to` days old. Like the server,
 *   counts calendar days in UTC; today is day 0
 */
function ageGroupSearch(from: number, to: number | undefined): VulnerabilitySearch {
  const daysAgo = (days: number) =>
    new Date((Math.floor(Date.now() / DAY_MS) - days + 1) * DAY_MS).toISOString().replace('.000', '');
  return {
    ...OPEN_SEARCH,
    ...(to === undefined ? {} : { created_since: daysAgo(to) }),
    ...(from === 0 ? {} : { created_until: daysAgo(from) }),
  };
}
/** Days ahead that the card of due vulnerabilities covers. */
const DUE_SOON_DAYS = 7;

/** The home page: a card per number, with links to the matching lists. */
export function HomePage() {
  const { data: summary, error, refetch } = useQuery(summaryQuery({}));
  const isEmpty = summary !== undefined && sum(summary.by_severity) === 0;
  return (
    <PageLayout title="Home">
      {isEmpty && <GettingStarted />}
      <div className={classes.cards}>
        {!isEmpty && (
          <>
            <CountCards />
            <Card title={messages.retests}>
              <Count search={{ retest: ['requested'] }} />
            </Card>
          </>
        )}
        <HoursCard />
        <ImportsCard />
        {!isEmpty && <OpenCards />}
        {!isEmpty && (
          <Card title={messages.history} isFullWidth>
            {error !== null ? (
              <LoadError error={error} onRetry={refetch} />
            ) : summary === undefined ? (
              <Skeleton height={220} />
            ) : (
              <Suspense fallback={<Skeleton height={220} />}>
                <DaysChart days={summary.days} />
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

/** Open vulnerabilities by severity and by age. */
function OpenCards() {
  const { data, error, refetch } = useQuery(summaryQuery(OPEN_SEARCH));
  const total = data && sum(data.by_severity);
  const renderBars = (bars: (counts: NonNullable<typeof data>, openCount: number) => ReactNode) =>
    error !== null ? (
      <LoadError error={error} onRetry={refetch} />
    ) : data === undefined || total === undefined ? (
      <Skeleton height={150} />
    ) : (
      <Stack gap={6}>{bars(data, total)}</Stack>
    );
  return (
    <>
      <Card title={messages.bySeverity} isWide>
        {renderBars(({ by_severity }, openCount) =>
          SEVERITIES.map((severity) => (
            <Bar
              key={severity}
              label={<SeverityMark severity={severity} withLabel />}
              severity={severity}
              count={by_severity[severity] ?? 0}
              total={openCount}
              search={{ ...OPEN_SEARCH, severity: [severity] }}
            />
          )),
        )}
      </Card>
      <Card
        title={messages.byAge}
        isWide
        headerLink={
          <Anchor size="sm" renderRoot={(props) => <Link to="/vulnerabilities" search={OLDEST} {...props} />}>
            {messages.oldestFirst}
          </Anchor>
        }
      >
        {renderBars(({ open_by_age }, openCount) =>
          AGE_GROUPS.map(([age, from, to]) => (
            <Bar
              key={age}
              label={messages.ages[age]}
              count={open_by_age[age]}
              total={openCount}
              search={ageGroupSearch(from, to)}
            />
          )),
        )}
      </Card>
    </>
  );
}

function CountCards() {
  const { data: user } = useQuery(currentUserQuery);
  const [previousVisit] = useState(recordVisit);
  const [due] = useState(() => new Date(Date.now() + DUE_SOON_DAYS * DAY_MS).toISOString().slice(0, 10));
  return (
    <>
      <Card title={messages.assigned}>
        {user === undefined ? (
          <Loader size="sm" />
        ) : (
          <Count search={{ ...OPEN_SEARCH, assignee_id: [user.id] }} />
        )}
      </Card>
      <Card title={messages.due}>
        <Count search={{ ...OPEN_SEARCH, due_until: due, sort: 'due_on' }} />
      </Card>
      <Card title={messages.newSinceVisit}>
        {previousVisit === undefined ? (
          <DimmedText>{messages.firstVisit}</DimmedText>
        ) : (
          <>
            <Count search={{ created_since: previousVisit }} />
            <DimmedText size="xs">
              {fillSentence(messages.lastVisit, { at: <Time at={previousVisit} /> })}
            </DimmedText>
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
  const { data, error, refetch } = useQuery(hoursSinceQuery(month));
  return (
    <Card title={messages.hours}>
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
  const { data, error, refetch } = useQuery(runningImportsQuery);
  const canImport = useCanImport();
  return (
    <Card title={messages.imports}>
      {error !== null && <LoadError error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Loader size="sm" />}
      {data?.length === 0 && (
        <>
          <DimmedText>{messages.noImports}</DimmedText>
          {canImport && (
            <Anchor component={Link} to="/imports" size="sm">
              {messages.importReport}
            </Anchor>
          )}
        </>
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

/** The number of matches of a search, linked to the list. */
function Count({ search }: { search: VulnerabilitySearch }) {
  const { data, error, refetch } = useQuery(vulnerabilityTotalQuery(search));
  if (error !== null) return <LoadError error={error} onRetry={refetch} />;
  if (data === undefined) return <Loader size="sm" />;
  return (
    <Link to="/vulnerabilities" search={listAddress(search)} className={classes.count}>
      {data.toLocaleString()}
    </Link>
  );
}

interface BarProps {
  label: ReactNode;
  /** Sets the colour of the bar. */
  severity?: string;
  count: number;
  total: number;
  /** Link target. */
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

/** Shown in a card that could not be loaded. */
function LoadError({ error, onRetry }: { error: Error; onRetry: () => unknown }) {
  return (
    <Text size="sm" component="div">
      {errorText(error)}{' '}
      <Button size="compact-xs" variant="light" onClick={() => void onRetry()}>
        {commonMessages.tryAgain}
      </Button>
    </Text>
  );
}

interface CardProps {
  title: string;
  isWide?: boolean;
  isFullWidth?: boolean;
  /** Shown beside the title. */
  headerLink?: ReactNode;
  children: ReactNode;
}

function Card({ title, isWide = false, isFullWidth = false, headerLink, children }: CardProps) {
  return (
    <Paper
      component="section"
      withBorder
      p="md"
      className={classes.card}
      data-wide={isWide || undefined}
      data-full={isFullWidth || undefined}
    >
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h6">
          {title}
        </Title>
        {headerLink}
      </Group>
      {children}
    </Paper>
  );
}

/** Records this visit in the browser. @returns when the previous visit ended; undefined on the first */
function recordVisit(now = Date.now()): string | undefined {
  const last = Number(localStorage.getItem(LAST_SEEN_KEY) ?? 0);
  if (last > 0 && now - last > VISIT_TIMEOUT)
    localStorage.setItem(PREVIOUS_VISIT_KEY, new Date(last).toISOString());
  localStorage.setItem(LAST_SEEN_KEY, String(now));
  return localStorage.getItem(PREVIOUS_VISIT_KEY) ?? undefined;
}
