import { Button, Group, Stack, Text } from '@mantine/core';
import { IconPencil, IconPlayerPlay, IconPlayerStop, IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { Assessment, TestingSession } from '../../queries/client.ts';
import { findLoadedIndex } from '../../queries/paged-list.ts';
import {
  runningSessionsQuery,
  testingHoursQuery,
  useTestingSessionMutations,
  useTestingSessions,
} from '../../queries/testing-sessions.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { IconAction } from '../../components/page-actions.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { type Column, StackedCell } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import classes from './assessment-page.module.css';
import { hoursMessages as messages } from './messages.ts';
import { SessionForm } from './session-form.tsx';
import { pluralizeHours } from '../../components/pluralize.ts';

type OpenDialog = { kind: 'log' } | { kind: 'edit' | 'delete'; session: TestingSession };

/** The testing hours of an assessment: a timer and the logged sessions (operations 7 and 48 to 51). */
export function HoursTab({ assessment }: { assessment: Assessment }) {
  const { uid, state } = assessment;
  const { data: user } = useQuery(currentUserQuery);
  const { data: hours } = useQuery(testingHoursQuery(uid));
  const { data: running = [] } = useQuery(runningSessionsQuery(uid));
  const list = useTestingSessions(uid);
  const [dialog, setDialog] = useState<OpenDialog>();
  const { start, stop, remove } = useTestingSessionMutations(uid);
  const ownSession = running.find(({ tester }) => tester.id === user?.id);
  const { mutate: stopSession } = stop;
  // Shows the column if the user may edit one of the sessions.
  const hasActions = useMemo(
    () => findLoadedIndex(list, ({ tester }) => user?.admin === true || tester.id === user?.id) >= 0,
    [list, user],
  );
  const columns = useMemo(() => {
    const all = sessionColumns((session) => user?.admin === true || session.tester.id === user?.id, {
      onStop: stopSession,
      onEdit: (session) => setDialog({ kind: 'edit', session }),
      onDelete: (session) => setDialog({ kind: 'delete', session }),
    });
    return hasActions ? all : all.filter(({ id }) => id !== 'actions');
  }, [user, stopSession, hasActions]);
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" aria-live="polite">
          {hours !== undefined &&
            fillSentence(messages.total(running.length), {
              hours: <b>{pluralizeHours(hours.stats_total)}</b>,
            })}
        </Text>
        <Group gap="xs">
          {ownSession === undefined ? (
            state === 'active' && (
              <Button
                size="xs"
                leftSection={<IconPlayerPlay size={14} aria-hidden />}
                loading={start.isPending}
                onClick={() => start.mutate()}
              >
                {messages.start}
              </Button>
            )
          ) : (
            <Button
              size="xs"
              leftSection={<IconPlayerStop size={14} aria-hidden />}
              loading={stop.isPending}
              onClick={() => stopSession(ownSession)}
            >
              {messages.stop}&nbsp;
              <Stopwatch since={ownSession.started_at} />
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setDialog({ kind: 'log' })}
          >
            {messages.logHours}
          </Button>
        </Group>
      </Group>
      <div className={classes.table}>
        <DataTable
          label={messages.tableLabel}
          list={list}
          columns={columns}
          rowId={({ id }) => String(id)}
          rowName={nameOf}
          empty={
            <EmptyState title={messages.emptyTitle}>
              {state === 'active' ? messages.emptyHint : messages.emptyHintInactive(state)}
            </EmptyState>
          }
        />
      </div>
      {dialog?.kind === 'log' && <SessionForm assessment={assessment} onClose={() => setDialog(undefined)} />}
      {dialog?.kind === 'edit' && (
        <SessionForm assessment={assessment} session={dialog.session} onClose={() => setDialog(undefined)} />
      )}
      {dialog?.kind === 'delete' && (
        <FormDialog
          title={messages.deleteTitle}
          submitLabel="Delete"
          isDestructive
          isPending={remove.isPending}
          error={errorText(remove.error)}
          onSubmit={() => remove.mutate(dialog.session, { onSuccess: () => setDialog(undefined) })}
          onClose={() => setDialog(undefined)}
        >
          <Text size="sm">
            {messages.deleteHint(pluralizeHours(dialog.session.hours), nameOf(dialog.session))}
          </Text>
        </FormDialog>
      )}
    </Stack>
  );
}

/** The time since a start, updated every second. */
function Stopwatch({ since }: { since: string }) {
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

const nameOf = ({ tester }: TestingSession) => tester.name ?? tester.email;

interface SessionActions {
  onStop: (session: TestingSession) => void;
  onEdit: (session: TestingSession) => void;
  onDelete: (session: TestingSession) => void;
}

function sessionColumns(
  canEdit: (session: TestingSession) => boolean,
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
        canEdit(session) && (
          <Group gap={4} wrap="nowrap">
            {session.ended_at === null && (
              <IconAction
                label={messages.stopSession(nameOf(session))}
                icon={IconPlayerStop}
                onClick={() => onStop(session)}
              />
            )}
            <IconAction
              label={messages.editSession(nameOf(session))}
              icon={IconPencil}
              onClick={() => onEdit(session)}
            />
            <IconAction
              label={messages.deleteSession(nameOf(session))}
              icon={IconTrash}
              onClick={() => onDelete(session)}
            />
          </Group>
        ),
    },
  ];
}
