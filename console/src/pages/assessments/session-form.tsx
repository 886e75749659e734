import { Group, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Assessment, TestingSession } from '../../queries/client.ts';
import { findPeople, personLabel } from '../../queries/people.ts';
import { useTestingSessionMutations } from '../../queries/testing-sessions.ts';
import { useApiForm } from '../../components/field-errors.ts';
import type { Option } from '../../components/filter-definition.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { hoursMessages as messages } from './messages.ts';

const HOUR_MS = 3_600_000;
const TIME_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

interface SessionFormProps {
  assessment: Assessment;
  /** The session to edit; undefined to log a new one. */
  session?: TestingSession;
  onClose: () => void;
}

/** Logs or edits a testing session, in the user's time zone (operations 49 and 50). */
export function SessionForm({ assessment, session, onClose }: SessionFormProps) {
  const { data: user } = useQuery(currentUserQuery);
  const { log, correct } = useTestingSessionMutations(assessment.uid);
  const { error, isPending } = session === undefined ? log : correct;
  const { values, field, rest } = useApiForm(formValues(session), error);
  const save = () => {
    const { started_at, ended_at, note, tester_id: tester } = values;
    const set = {
      ...changedTime('started_at', started_at, session?.started_at),
      ...changedTime('ended_at', ended_at, session?.ended_at ?? undefined),
      note,
    };
    if (session !== undefined) correct.mutate({ session, set }, { onSuccess: onClose });
    else
      log.mutate(
        { ...set, ...(tester === null ? {} : { tester_id: Number(tester.value) }) },
        { onSuccess: onClose },
      );
  };
  return (
    <FormDialog
      title={session === undefined ? messages.logTitle : messages.editTitle}
      submitLabel={session === undefined ? 'Log' : 'Save'}
      isPending={isPending}
      // Without a start time, the API would start the timer instead.
      isDisabled={values.started_at === '' && session === undefined}
      error={rest}
      size="lg"
      onSubmit={save}
      onClose={onClose}
    >
      {/* Wide enough for a date and time in any language; they wrap if both do not fit. */}
      <Group grow preventGrowOverflow={false} align="start" gap="sm">
        <TextInput
          type="datetime-local"
          label="Started"
          miw={230}
          required
          data-autofocus
          {...field('started_at')}
        />
        <TextInput
          type="datetime-local"
          label="Ended"
          miw={230}
          required={session?.ended_at !== null}
          {...field('ended_at')}
        />
      </Group>
      <DimmedText size="xs">{messages.timeZone(TIME_ZONE)}</DimmedText>
      <Textarea label="Note" autosize minRows={2} maxRows={8} {...field('note')} />
      {session === undefined && user?.admin === true && (
        <AsyncSelect
          label="Tester"
          placeholder={messages.testerPlaceholder}
          optionsKey={['people', assessment.organization_uid]}
          loadOptions={async (search, signal) =>
            (await findPeople(search, signal, assessment.organization_uid)).map((person) => ({
              value: String(person.id),
              label: personLabel(person),
            }))
          }
          clearable
          {...field('tester_id')}
        />
      )}
    </FormDialog>
  );
}

function formValues(session: TestingSession | undefined) {
  const end = session === undefined ? new Date().toISOString() : session.ended_at;
  return {
    started_at: toLocalDateTime(
      session === undefined ? Date.now() - HOUR_MS : Date.parse(session.started_at),
    ),
    ended_at: end === null ? '' : toLocalDateTime(Date.parse(end)),
    note: session?.note ?? '',
    tester_id: null as Option | null,
  };
}

/** Formats a time for a `datetime-local` input: local, to the minute. */
function toLocalDateTime(time: number): string {
  const date = new Date(time);
  return new Date(time - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns the property that a time input changes, or none if it is empty or unchanged to the minute. */
function changedTime(name: string, typed: string, current: string | undefined): Record<string, string> {
  if (typed === '' || Number.isNaN(Date.parse(typed))) return {};
  if (current !== undefined && toLocalDateTime(Date.parse(current)) === typed) return {};
  return { [name]: new Date(typed).toISOString() };
}
