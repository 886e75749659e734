import { Button } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { VersionedAssessment } from '../../queries/assessments.ts';
import { runningSessionsQuery, useTestingSessionMutations } from '../../queries/testing-sessions.ts';
import { currentUserQuery } from '../../session/permissions.ts';
import classes from './assessment-page.module.css';
import { hoursMessages as messages } from './messages.ts';

/** Starts and stops the timer of the reader; absent for those who log no hours. */
export function TimerButton({
  assessment: { uid, state, permissions },
}: {
  assessment: VersionedAssessment;
}) {
  const { data: user } = useQuery(currentUserQuery);
  const { data: running = [] } = useQuery(runningSessionsQuery(uid));
  const { start, stop } = useTestingSessionMutations(uid);
  const own = running.find(({ tester }) => tester.id === user?.id);
  if (own !== undefined)
    return (
      <Button
        variant="default"
        fullWidth
        leftSection={<IconPlayerStop size={16} aria-hidden />}
        loading={stop.isPending}
        onClick={() => stop.mutate(own)}
      >
        {messages.stop}&nbsp;
        <Stopwatch since={own.started_at} />
      </Button>
    );
  if (permissions?.report !== true || state !== 'active') return null;
  return (
    <Button
      variant="default"
      fullWidth
      leftSection={<IconPlayerPlay size={16} aria-hidden />}
      loading={start.isPending}
      onClick={() => start.mutate()}
    >
      {messages.start}
    </Button>
  );
}

/** The time since a start, updated every second. */
export function Stopwatch({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1_000));
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  return (
    <span className={classes.clock} role="timer" aria-live="off">
      {Math.floor(seconds / 3_600)}:{twoDigits(Math.floor(seconds / 60) % 60)}:{twoDigits(seconds % 60)}
    </span>
  );
}
