import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core';
import { IconPencil, IconPlayerPlay, IconPlayerStop, IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { Assessment, TestingSession } from '../../queries/client.ts';
import {
  runningSessions,
  testingHours,
  useTestingSessionMutations,
  useTestingSessions,
} from '../../queries/testing-sessions.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { Time } from '../../components/time.tsx';
import { StackedCell } from '../../components/stacked-cell.tsx';
import { currentUser } from '../../session/current-user.ts';
import classes from './assessment-page.module.css';
import { SessionForm } from './session-form.tsx';
import { pluralizeHours } from '../../components/pluralize.ts';

type OpenDialog = { kind: 'log' } | { kind: 'edit' | 'delete'; session: TestingSession };

/** The hours of an assessment: a clock to start and stop, and what was logged (operations 7 and 48 to 51). */
export function HoursTab({ assessment }: { assessment: Assessment }) {
  const { uid, state } = assessment;
  const { data: who } = useQuery(currentUser);
  const { data: hours } = useQuery(testingHours(uid));
  const { data: running = [] } = useQuery(runningSessions(uid));
  const list = useTestingSessions(uid);
  const [asked, setAsked] = useState<OpenDialog>();
  const { start, stop, remove } = useTestingSessionMutations(uid);
  const mine = running.find(({ tester }) => tester.id === who?.id);
  const { mutate: end } = stop;
  // Where none of them is one's own, there is nothing to do in the column.
  const hasActions = Array.from({ length: list.loadedCount }, (_, index) => list.rowAt(index)).some(
    (session) => who?.admin === true || (session !== undefined && session.tester.id === who?.id),
  );
  const columns = useMemo(() => {
    const all = sessionColumns((session) => who?.admin === true || session.tester.id === who?.id, {
      onStop: end,
      onEdit: (session) => setAsked({ kind: 'edit', session }),
      onDelete: (session) => setAsked({ kind: 'delete', session }),
    });
    return hasActions ? all : all.filter(({ id }) => id !== 'actions');
  }, [who, end, hasActions]);
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" aria-live="polite">
          {hours !== undefined && (
            <>
              <b>{pluralizeHours(hours.stats_total)}</b> in all
              {running.length > 0 && `, ${running.length} running`}
            </>
          )}
        </Text>
        <Group gap="xs">
          {mine === undefined ? (
            state === 'active' && (
              <Button
                size="xs"
                leftSection={<IconPlayerPlay size={14} aria-hidden />}
                loading={start.isPending}
                onClick={() => start.mutate()}
              >
                Start
              </Button>
            )
          ) : (
            <Button
              size="xs"
              leftSection={<IconPlayerStop size={14} aria-hidden />}
              loading={stop.isPending}
              onClick={() => end(mine)}
            >
              Stop&nbsp;
              <Stopwatch since={mine.started_at} />
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setAsked({ kind: 'log' })}
          >
            Log hours
          </Button>
        </Group>
      </Group>
      <div className={classes.table}>
        <DataTable
          label="Testing sessions"
          list={list}
          columns={columns}
          rowId={({ id }) => String(id)}
          rowName={({ tester }) => tester.name ?? tester.email}
          empty={
            <EmptyState title="No hours yet">
              {state === 'active'
                ? 'Start the clock when you begin to test, or log what you did.'
                : `The clock runs on active assessments, and this one is ${state}. Hours can be logged all the same.`}
            </EmptyState>
          }
        />
      </div>
      {asked?.kind === 'log' && <SessionForm assessment={assessment} onClose={() => setAsked(undefined)} />}
      {asked?.kind === 'edit' && (
        <SessionForm assessment={assessment} session={asked.session} onClose={() => setAsked(undefined)} />
      )}
      {asked?.kind === 'delete' && (
        <FormDialog
          title="Delete the session"
          submitLabel="Delete"
          isDestructive
          isPending={remove.isPending}
          error={remove.error === null ? undefined : errorText(remove.error)}
          onSubmit={() => remove.mutate(asked.session, { onSuccess: () => setAsked(undefined) })}
          onClose={() => setAsked(undefined)}
        >
          <Text size="sm">
            {pluralizeHours(asked.session.hours)} of {asked.session.tester.name ?? asked.session.tester.email}{' '}
            are gone from the total then. This cannot be undone.
          </Text>
        </FormDialog>
      )}
    </Stack>
  );
}

/** How long something runs, by the second. */
function Stopwatch({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1_000));
  const two = (number: number) => String(number).padStart(2, '0');
  return (
    <span className={classes.clock} role="timer" aria-live="off">
      {Math.floor(seconds / 3_600)}:{two(Math.floor(seconds / 60) % 60)}:{two(seconds % 60)}
    </span>
  );
}

interface SessionActions {
  onStop: (session: TestingSession) => void;
  onEdit: (session: TestingSession) => void;
  onDelete: (session: TestingSession) => void;
}

function sessionColumns(
  mayChange: (session: TestingSession) => boolean,
  { onStop, onEdit, onDelete }: SessionActions,
): readonly Column<TestingSession>[] {
  return [
    {
      id: 'tester',
      header: 'Tester',
      width: 'minmax(80px, 1fr)',
      cell: ({ tester }) => <span title={tester.email}>{tester.name ?? tester.email}</span>,
      narrow: {
        cell: ({ tester, started_at }) => (
          <StackedCell secondary={<Time at={started_at} exact />}>{tester.name ?? tester.email}</StackedCell>
        ),
      },
    },
    {
      id: 'started',
      header: 'Started',
      width: '170px',
      minTableWidth: 460,
      cell: ({ started_at }) => <Time at={started_at} exact />,
    },
    {
      id: 'hours',
      header: 'Hours',
      width: '72px',
      cell: ({ started_at, ended_at, hours }) =>
        ended_at === null ? (
          <b>
            <Stopwatch since={started_at} />
          </b>
        ) : (
          hours.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
        ),
    },
    {
      id: 'note',
      header: 'Note',
      width: 'minmax(80px, 2fr)',
      minTableWidth: 620,
      cell: ({ note }) => <span title={note}>{note}</span>,
    },
    {
      id: 'actions',
      header: 'Actions',
      width: '96px',
      cell: (session) =>
        mayChange(session) && (
          <Group gap={4} wrap="nowrap">
            {session.ended_at === null && (
              <ActionButton
                label="Stop"
                session={session}
                onClick={onStop}
                icon={<IconPlayerStop size={16} aria-hidden />}
              />
            )}
            <ActionButton
              label="Edit"
              session={session}
              onClick={onEdit}
              icon={<IconPencil size={16} aria-hidden />}
            />
            <ActionButton
              label="Delete"
              session={session}
              onClick={onDelete}
              icon={<IconTrash size={16} aria-hidden />}
            />
          </Group>
        ),
    },
  ];
}

interface ActionButtonProps {
  label: string;
  session: TestingSession;
  onClick: (session: TestingSession) => void;
  icon: React.ReactNode;
}

function ActionButton({ label, session, onClick, icon }: ActionButtonProps) {
  const { tester } = session;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`${label} the session of ${tester.name ?? tester.email}`}
      onClick={() => onClick(session)}
    >
      {icon}
    </ActionIcon>
  );
}
