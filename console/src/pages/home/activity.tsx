import { Button } from '@mantine/core';
import { IconClock, IconFileImport, IconPlayerStop } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { Meter } from '../../components/charts/bars.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import { PersonMark } from '../../components/identity-marks.tsx';
import { commonMessages } from '../../components/messages.ts';
import { PageSection } from '../../components/section.tsx';
import { Time } from '../../components/time.tsx';
import type { ImportJob, TestingSession } from '../../queries/client.ts';
import { allRunningSessionsQuery, sessionsSinceQuery } from '../../queries/home.ts';
import { runningImportsQuery } from '../../queries/imports.ts';
import { useTestingSessionMutations } from '../../queries/testing-sessions.ts';
import { currentUserQuery } from '../../session/permissions.ts';
import { startOfHours } from './dates.ts';
import { LoadError } from './load-error.tsx';
import { homeMessages as messages } from './messages.ts';
import classes from './home-page.module.css';

/** The imports and the testing sessions that run. */
export function HappeningNow() {
  const { data: user } = useQuery(currentUserQuery);
  const imports = useQuery(runningImportsQuery);
  const sessions = useQuery(allRunningSessionsQuery);
  const failed = [imports, sessions].find(({ error }) => error !== null);
  const others = sessions.data?.filter(({ tester }) => tester.id !== user?.id) ?? [];
  if (failed === undefined && (imports.data ?? []).length + others.length === 0) return null;
  return (
    <PageSection title={messages.now}>
      {failed?.error != null && <LoadError error={failed.error} onRetry={failed.refetch} />}
      <ul className={classes.now}>
        {imports.data?.map((job) => (
          <RunningImport key={job.id} job={job} />
        ))}
        {others.map(({ id, tester, assessment_id: uid, started_at }) => (
          <li key={id}>
            <IconClock size={16} stroke={1.75} aria-hidden />
            <span>
              {fillSentence(messages.testing, {
                person: <b>{commonMessages.person.author(tester)}</b>,
                assessment: (
                  <Link to="/assessments/$uid" params={{ uid }}>
                    <AssessmentName uid={uid} />
                  </Link>
                ),
              })}
              <small>{fillSentence(messages.since, { at: <Time at={started_at} /> })}</small>
            </span>
          </li>
        ))}
      </ul>
    </PageSection>
  );
}

function RunningImport({ job: { id, file, assessment_id: uid, progress } }: { job: ImportJob }) {
  const { bytes_read: read, bytes_total: all, seconds_left: left } = progress;
  const percent = all === 0 ? 0 : Math.floor((100 * read) / all);
  return (
    <li>
      <IconFileImport size={16} stroke={1.75} aria-hidden />
      <span>
        <Link to="/imports/$id" params={{ id: String(id) }} dir="auto">
          {file.filename}
        </Link>
        <small>
          {uid === null
            ? messages.importing(percent)
            : fillSentence(messages.importingInto(percent), { assessment: <AssessmentName uid={uid} /> })}
          {left !== null && messages.secondsLeft(left)}
        </small>
      </span>
    </li>
  );
}

/** The reader's own running session. */
export function OwnTimer() {
  const { data: user } = useQuery(currentUserQuery);
  const { data: sessions } = useQuery(allRunningSessionsQuery);
  const session = sessions?.find(({ tester }) => tester.id === user?.id);
  return session === undefined ? null : <Timer session={session} />;
}

function Timer({ session }: { session: TestingSession }) {
  const { assessment_id: uid, started_at, note } = session;
  const { stop } = useTestingSessionMutations(uid);
  return (
    <PageSection title={messages.timer}>
      <div className={classes.timer}>
        <Elapsed since={started_at} />
        <span>
          <Link to="/assessments/$uid" params={{ uid }}>
            <AssessmentName uid={uid} />
          </Link>
          <small>{note}</small>
        </span>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlayerStop size={16} aria-hidden />}
          loading={stop.isPending}
          onClick={() => stop.mutate(session)}
        >
          {messages.stop}
        </Button>
      </div>
    </PageSection>
  );
}

/** Hours, minutes and seconds since a time. */
function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1_000));
  const digits = (value: number) => String(value).padStart(2, '0');
  return (
    <span className={classes.big} role="timer">
      {Math.floor(seconds / 3_600)}:{digits(Math.floor(seconds / 60) % 60)}:{digits(seconds % 60)}
    </span>
  );
}

const MAX_TESTERS = 5;

/** The hours of each tester in this week, the most first. */
export function WeekHours() {
  const [{ week, first }] = useState(startOfHours);
  const { data, error, refetch } = useQuery(sessionsSinceQuery(first));
  const testers = new Map<number, { tester: TestingSession['tester']; hours: number }>();
  for (const { tester, hours, started_at } of data ?? [])
    if (Date.parse(started_at) >= Date.parse(week))
      testers.set(tester.id, { tester, hours: (testers.get(tester.id)?.hours ?? 0) + hours });
  const rows = [...testers.values()].toSorted((a, b) => b.hours - a.hours).slice(0, MAX_TESTERS);
  if (rows.length === 0 && error === null) return null;
  return (
    <PageSection title={messages.week}>
      {error !== null && <LoadError error={error} onRetry={refetch} />}
      <ul className={classes.meters}>
        {rows.map(({ tester, hours }) => (
          <li key={tester.id}>
            <PersonMark person={tester} withLabel />
            <Meter value={hours} max={rows[0]?.hours ?? 0} />
            <b>{messages.hours(hours)}</b>
          </li>
        ))}
      </ul>
    </PageSection>
  );
}
