import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { IconPencil, IconPlayerStop, IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { TestingSessionWithEdits } from '../../../../client/src/openapi-types.ts';
import type { VersionedAssessment } from '../../queries/assessments.ts';
import type { TestingSession } from '../../queries/client.ts';
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
import { errorText } from '../../components/notifications.ts';
import { DataTable } from '../../components/data-table.tsx';
import { type Column, StackedCell } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import classes from './assessment-page.module.css';
import { hoursMessages as messages } from './messages.ts';
import { SessionEditsDialog } from './session-edits-dialog.tsx';
import { SessionForm } from './session-form.tsx';
import { Stopwatch } from './timer.tsx';
import { pluralizeHours } from '../../components/pluralize.ts';

type OpenDialog =
  | { kind: 'log' }
  | { kind: 'edit' | 'delete'; session: TestingSession }
  | { kind: 'edits'; session: TestingSessionWithEdits };

/** The testing hours of an assessment: the logged sessions (operations 7 and 48 to 51). */
export function HoursTab({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, state } = assessment;
  const canLog = assessment.permissions?.report === true;
  const { data: user } = useQuery(currentUserQuery);
  const { data: hours } = useQuery(testingHoursQuery(uid));
  const { data: running = [] } = useQuery(runningSessionsQuery(uid));
  const list = useTestingSessions(uid);
  const [dialog, setDialog] = useState<OpenDialog>();
  const { stop, remove } = useTestingSessionMutations(uid);
  const { mutate: stopSession } = stop;
  const rights = useMemo((): SessionRights => {
    const isAdmin = user?.admin === true;
    const isOwn = ({ tester }: TestingSession) => tester.id === user?.id;
    return {
      // With any role, testers stop their own clock.
      canStop: (session) => session.ended_at === null && (isAdmin || isOwn(session)),
      canEdit: (session) => isAdmin || (canLog && isOwn(session)),
    };
  }, [user, canLog]);
  // Shows the column if one of the sessions has an action.
  const hasActions = useMemo(
    () => findLoadedIndex(list, (session) => rights.canStop(session) || rights.canEdit(session)) >= 0,
    [list, rights],
  );
  const columns = useMemo(() => {
    const all = sessionColumns(rights, {
      onStop: stopSession,
      onEdit: (session) => setDialog({ kind: 'edit', session }),
      onDelete: (session) => setDialog({ kind: 'delete', session }),
      onShowEdits: (session) => setDialog({ kind: 'edits', session }),
    });
    return hasActions ? all : all.filter(({ id }) => id !== 'actions');
  }, [rights, stopSession, hasActions]);
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" aria-live="polite">
          {hours !== undefined &&
            fillSentence(messages.total(running.length), {
              hours: <b>{pluralizeHours(hours.stats_total)}</b>,
            })}
        </Text>
        {canLog && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setDialog({ kind: 'log' })}
          >
            {messages.logHours}
          </Button>
        )}
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
              {!canLog
                ? messages.emptyHintReadOnly
                : state === 'active'
                  ? messages.emptyHint
                  : messages.emptyHintInactive(state)}
            </EmptyState>
          }
        />
      </div>
      {dialog?.kind === 'log' && <SessionForm assessment={assessment} onClose={() => setDialog(undefined)} />}
      {dialog?.kind === 'edit' && (
        <SessionForm assessment={assessment} session={dialog.session} onClose={() => setDialog(undefined)} />
      )}
      {dialog?.kind === 'edits' && (
        <SessionEditsDialog session={dialog.session} onClose={() => setDialog(undefined)} />
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

const nameOf = ({ tester }: TestingSession) => tester.name ?? tester.email;

interface SessionRights {
  canStop: (session: TestingSession) => boolean;
  canEdit: (session: TestingSession) => boolean;
}

interface SessionActions {
  onShowEdits: (session: TestingSessionWithEdits) => void;
  onStop: (session: TestingSession) => void;
  onEdit: (session: TestingSession) => void;
  onDelete: (session: TestingSession) => void;
}

function sessionColumns(
  { canStop, canEdit }: SessionRights,
  { onStop, onEdit, onDelete, onShowEdits }: SessionActions,
): readonly Column<TestingSessionWithEdits>[] {
  const editedMark = (session: TestingSessionWithEdits) =>
    session.edited && (
      <>
        {' '}
        <Anchor
          component="button"
          type="button"
          size="xs"
          underline="always"
          aria-label={messages.showCorrections(nameOf(session))}
          onClick={() => onShowEdits(session)}
        >
          {messages.corrected}
        </Anchor>
      </>
    );
  return [
    {
      id: 'tester',
      header: 'Tester',
      width: 'minmax(80px, 1fr)',
      cell: (session) => (
        <span title={session.tester.email}>
          {nameOf(session)}
          {editedMark(session)}
        </span>
      ),
      narrow: {
        cell: (session) => (
          <StackedCell secondary={<Time at={session.started_at} exact />}>
            {nameOf(session)}
            {editedMark(session)}
          </StackedCell>
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
      cell: (session) => (
        <Group gap={4} wrap="nowrap">
          {canStop(session) && (
            <IconAction
              label={messages.stopSession(nameOf(session))}
              icon={IconPlayerStop}
              onClick={() => onStop(session)}
            />
          )}
          {canEdit(session) && (
            <>
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
            </>
          )}
        </Group>
      ),
    },
  ];
}
