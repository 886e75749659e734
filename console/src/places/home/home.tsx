import { Anchor, Group, Loader, Paper, Progress, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { found, hoursSince, runningImports } from '../../api/home.ts';
import { summary, type VulnerabilitySearch } from '../../api/vulnerabilities.ts';
import { Empty } from '../../parts/empty.tsx';
import { errorText } from '../../parts/notices.tsx';
import { Place } from '../../parts/place.tsx';
import { SEVERITIES, SeverityMark } from '../../parts/severity-mark.tsx';
import { Time } from '../../parts/time.tsx';
import { whoAmI } from '../../session/who.ts';
import classes from './home.module.css';
import { visitBefore } from './since-visit.ts';

const DaysChart = lazy(() => import('./days-chart.tsx'));

/** The phases that are not closed. */
const OPEN: VulnerabilitySearch = { phase: ['new', 'open'] };
const AGES = [
  ['days_7', 'Up to a week'],
  ['days_30', 'Up to a month'],
  ['days_90', 'Up to three months'],
  ['older', 'Older'],
] as const;
const DAY = 86_400_000;
/** What is due within this many days is shown as due. */
const DUE_WITHIN = 7;

/** What is open, what is mine, what is new, and what runs. */
export function Home() {
  const { data, error } = useQuery(summary(OPEN));
  const { data: all } = useQuery(summary({}));
  const total = data && Object.values(data.by_severity).reduce((sum, count) => sum + count, 0);
  if (error !== null)
    return (
      <Place title="Home">
        <Empty title="This could not be read">{errorText(error)}</Empty>
      </Place>
    );
  return (
    <Place title="Home">
      <div className={classes.cards}>
        <Card title="Open by severity" wide>
          {data === undefined || total === undefined ? (
            <Skeleton height={150} />
          ) : (
            <Stack gap={6}>
              {SEVERITIES.map((severity) => (
                <Bar
                  key={severity}
                  label={<SeverityMark severity={severity} />}
                  count={data.by_severity[severity] ?? 0}
                  total={total}
                  search={{ ...OPEN, severity: [severity] }}
                />
              ))}
            </Stack>
          )}
        </Card>
        <Card title="How long they have been open" wide>
          {data === undefined || total === undefined ? (
            <Skeleton height={150} />
          ) : (
            <Stack gap={6}>
              {AGES.map(([age, label]) => (
                <Bar key={age} label={label} count={data.open_by_age[age]} total={total} search={OPEN} />
              ))}
            </Stack>
          )}
        </Card>
        <Card title="Reported and closed, the last 90 days" full>
          {all === undefined ? (
            <Skeleton height={220} />
          ) : (
            <Suspense fallback={<Skeleton height={220} />}>
              <DaysChart days={all.days} />
            </Suspense>
          )}
        </Card>
        <Mine />
        <Card title="Retests that wait">
          <Count search={{ retest: ['requested'] }} />
        </Card>
        <Hours />
        <Imports />
      </div>
    </Place>
  );
}

function Mine() {
  const { data: who } = useQuery(whoAmI);
  const [before] = useState(visitBefore);
  const [due] = useState(() => new Date(Date.now() + DUE_WITHIN * DAY).toISOString().slice(0, 10));
  return (
    <>
      <Card title="Assigned to me, open">
        {who === undefined ? <Loader size="sm" /> : <Count search={{ ...OPEN, assignee_id: [who.id] }} />}
      </Card>
      <Card title={`Due within ${DUE_WITHIN} days, or late`}>
        <Count search={{ ...OPEN, due_until: due, sort: 'due_on' }} />
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

function Hours() {
  const [month] = useState(() => {
    const now = new Date();
    return new Date(now.getFullYear(), now.getMonth(), 1).toISOString();
  });
  const { data, error } = useQuery(hoursSince(month));
  return (
    <Card title="Hours tested this month">
      {error !== null ? (
        <Text size="sm">{errorText(error)}</Text>
      ) : data === undefined ? (
        <Loader size="sm" />
      ) : (
        <Text className={classes.count}>{data.toLocaleString(undefined, { maximumFractionDigits: 1 })}</Text>
      )}
    </Card>
  );
}

function Imports() {
  const { data } = useQuery(runningImports);
  return (
    <Card title="Imports that run">
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
  const { data, error } = useQuery(found(search));
  if (error !== null) return <Text size="sm">{errorText(error)}</Text>;
  if (data === undefined) return <Loader size="sm" />;
  return (
    <Link to="/vulnerabilities" search={search} className={classes.count}>
      {data.toLocaleString()}
    </Link>
  );
}

interface BarProps {
  label: ReactNode;
  count: number;
  total: number;
  search: VulnerabilitySearch;
}

function Bar({ label, count, total, search }: BarProps) {
  return (
    <Group gap="sm" wrap="nowrap" className={classes.bar}>
      <span className={classes.label}>{label}</span>
      <span className={classes.track} aria-hidden>
        <span style={{ width: `${total === 0 ? 0 : (100 * count) / total}%` }} />
      </span>
      <Link to="/vulnerabilities" search={search} className={classes.number}>
        {count.toLocaleString()}
      </Link>
    </Group>
  );
}

interface CardProps {
  title: string;
  wide?: boolean;
  full?: boolean;
  children: ReactNode;
}

function Card({ title, wide = false, full = false, children }: CardProps) {
  return (
    <Paper
      component="section"
      withBorder
      p="md"
      className={classes.card}
      data-wide={wide || undefined}
      data-full={full || undefined}
    >
      <Title order={2} size="h6" mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  );
}
