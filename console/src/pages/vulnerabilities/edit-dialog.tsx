import {
  Button,
  Checkbox,
  Group,
  Loader,
  Stack,
  Text,
  Textarea,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { api } from '../../queries/client.ts';
import { isDismissal, maySetStatus, statusName } from '../../queries/statuses.ts';
import { statusesQuery } from '../../queries/vulnerabilities.ts';
import { useBulkUpdate } from '../../queries/bulk-update.ts';
import { commonMessages } from '../../components/messages.ts';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ReasonField } from '../../components/dismissal-form.tsx';
import { useCommentDraft } from '../../components/local-draft.ts';
import { pluralizeFindings } from '../../components/pluralize.ts';
import { errorText, notify } from '../../components/notifications.ts';
import { SEVERITIES } from '../../queries/enums.ts';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { PersonPicker } from '../../components/person-picker.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { vulnerabilityListMessages as messages } from './messages.ts';
import type { EditKind, EditTarget } from './edit-targets.ts';
import { TagNamesInput } from './tag-names-input.tsx';
import classes from './edit-dialog.module.css';

interface EditDialogProps {
  kind: EditKind;
  targets: readonly EditTarget[];
  onClose: () => void;
}

/** Edits one field of one or many vulnerabilities. */
export default function EditDialog({ kind, targets, onClose }: EditDialogProps) {
  // A change of the rows would reset the forms.
  const [ids] = useState(() => targets.map(({ id }) => id));
  const Form = FORMS[kind];
  return (
    <Dialog onClose={onClose} title={messages.editTitles[kind]} size="sm">
      <Stack gap="sm">
        {ids.length > 1 && <Text size="sm">{pluralizeFindings(ids.length)}</Text>}
        <Form vulnerabilityIds={ids} targets={targets} onClose={onClose} />
      </Stack>
    </Dialog>
  );
}

interface FormProps extends Omit<EditDialogProps, 'kind'> {
  vulnerabilityIds: readonly number[];
}

function StatusForm({ vulnerabilityIds, targets, onClose }: FormProps) {
  const { data: statuses = [] } = useQuery(statusesQuery);
  const [dismissal, setDismissal] = useState<number>();
  const [reason, setReason] = useState('');
  const change = useBulkUpdate();
  const set = (status: number, comment?: string) => {
    change.mutate({
      ids: vulnerabilityIds,
      set: { status_id: status },
      label: statusName(status),
      ...(comment === undefined ? {} : { comment }),
    });
    onClose();
  };
  if (dismissal !== undefined)
    return (
      <SubmitForm
        label={commonMessages.dismissal.submit(statusName(dismissal))}
        disabled={reason.trim() === ''}
        onSubmit={() => set(dismissal, reason)}
      >
        <ReasonField autoFocus value={reason} onChange={setReason} />
      </SubmitForm>
    );
  return (
    <OptionMenu
      options={statuses
        .filter(({ id: to }) =>
          targets.every(({ rights, status_id: from }) => maySetStatus(rights, { from, to })),
        )
        .map(({ id }) => ({
          shortcut: String(id),
          label: <StatusMark id={id} withLabel />,
          choose: () => (isDismissal(id) ? setDismissal(id) : set(id)),
        }))}
    />
  );
}

function SeverityForm({ vulnerabilityIds, onClose }: FormProps) {
  const change = useBulkUpdate();
  return (
    <OptionMenu
      options={SEVERITIES.map((severity, index) => ({
        shortcut: String(index + 1),
        label: <SeverityMark severity={severity} withLabel />,
        choose() {
          change.mutate({ ids: vulnerabilityIds, set: { severity }, label: severity });
          onClose();
        },
      }))}
    />
  );
}

function TagsForm({ vulnerabilityIds, onClose }: FormProps) {
  const [names, setNames] = useState<string[]>([]);
  const change = useBulkUpdate();
  return (
    <SubmitForm
      label="Add"
      disabled={names.length === 0}
      onSubmit={() => {
        change.mutate({ ids: vulnerabilityIds, set: { add_tags: names }, label: names.join(', ') });
        onClose();
      }}
    >
      <TagNamesInput label="Tags" description={commonMessages.newTagsHint} onChange={setNames} />
    </SubmitForm>
  );
}

function AssigneeForm({ vulnerabilityIds, onClose }: FormProps) {
  const change = useBulkUpdate();
  return (
    <PersonPicker
      label="Assignee"
      onPick={(person) => {
        change.mutate({
          ids: vulnerabilityIds,
          set: { assignee_id: person?.id ?? null },
          assignee: person,
          label: commonMessages.person.assignee(person),
        });
        onClose();
      }}
    />
  );
}

function DueDateForm({ vulnerabilityIds, onClose }: FormProps) {
  const [date, setDate] = useState('');
  const change = useBulkUpdate();
  const set = (due: string | null) => {
    const label = due === null ? messages.noDueDate : messages.dueOn(due);
    change.mutate({ ids: vulnerabilityIds, set: { due_on: due }, label });
    onClose();
  };
  return (
    <SubmitForm label="Set" disabled={date === ''} onSubmit={() => set(date)}>
      <TextInput
        type="date"
        label={messages.editKinds.due}
        data-autofocus
        value={date}
        onChange={(event) => setDate(event.currentTarget.value)}
      />
      <Button variant="subtle" color="gray" onClick={() => set(null)}>
        {messages.noDueDate}
      </Button>
    </SubmitForm>
  );
}

function CommentForm(props: FormProps) {
  const { data: user } = useQuery(currentUserQuery);
  return user === undefined ? <Loader size="sm" /> : <CommentEditor {...props} user={user} />;
}

function CommentEditor({
  vulnerabilityIds,
  targets,
  user,
  onClose,
}: FormProps & { user: { id: number; staff: boolean } }) {
  // Kept internal even if another member of staff publishes meanwhile.
  const [draftIds] = useState(() => targets.filter(({ draft }) => draft).map(({ id }) => id));

  const { text, internal, isRestored, setText, setInternal, clear } = useCommentDraft(
    user.id,
    vulnerabilityIds,
  );
  const client = useQueryClient();
  const send = useMutation({
    async mutationFn() {
      for (const id of vulnerabilityIds)
        await api.POST('/v1/vulnerabilities/{id}/comments', {
          params: { path: { id } },
          body: { text, internal: internal || draftIds.includes(id) },
        });
    },
    onSuccess() {
      clear();
      for (const id of vulnerabilityIds) void client.invalidateQueries({ queryKey: ['vulnerability', id] });
      notify(messages.commentPosted(vulnerabilityIds.length));
      onClose();
    },
  });
  return (
    <SubmitForm
      label="Comment"
      disabled={text.trim() === ''}
      busy={send.isPending}
      onSubmit={() => send.mutate()}
    >
      <Textarea
        label="Comment"
        description={isRestored ? messages.restoredCommentHint : messages.commentHint}
        data-autofocus
        autosize
        minRows={4}
        maxRows={12}
        value={text}
        error={errorText(send.error)}
        onChange={(event) => {
          const written = event.currentTarget.value;
          setText(() => written);
        }}
      />
      {draftIds.length === vulnerabilityIds.length && (
        <DimmedText>{commonMessages.draft.internalComment}</DimmedText>
      )}
      {user.staff && draftIds.length < vulnerabilityIds.length && (
        <Checkbox
          label={messages.internalComment}
          description={draftIds.length > 0 && commonMessages.draft.internalComments}
          checked={internal}
          onChange={(event) => setInternal(event.currentTarget.checked)}
        />
      )}
    </SubmitForm>
  );
}

const FORMS = {
  status: StatusForm,
  severity: SeverityForm,
  tags: TagsForm,
  assignee: AssigneeForm,
  due: DueDateForm,
  comment: CommentForm,
} as const;

interface SubmitFormProps {
  label: string;
  disabled: boolean;
  busy?: boolean;
  onSubmit: () => void;
  children: ReactNode;
}

function SubmitForm({ label, disabled, busy = false, onSubmit, children }: SubmitFormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!disabled && !busy) onSubmit();
      }}
    >
      <Stack gap="sm">
        {children}
        <Group justify="flex-end">
          <Button type="submit" disabled={disabled} loading={busy}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface OptionMenuProps {
  options: readonly { shortcut: string; label: ReactNode; choose: () => void }[];
}

/** A menu whose options are selected by number key, arrow keys or click. */
function OptionMenu({ options }: OptionMenuProps) {
  const list = useRef<HTMLDivElement>(null);
  // The dialog moves the focus only after it has opened: a number pressed before would be lost.
  useLayoutEffect(() => list.current?.querySelector('button')?.focus(), []);
  const handleKey = (event: KeyboardEvent) => {
    const option = options.find(({ shortcut }) => shortcut === event.key);
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
    const focusedIndex = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (option !== undefined) option.choose();
    else if (step !== undefined) buttons[(focusedIndex + step + buttons.length) % buttons.length]?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <div ref={list} role="menu" tabIndex={-1} onKeyDown={handleKey}>
      {options.map(({ shortcut, label, choose }, index) => (
        <UnstyledButton
          key={shortcut}
          role="menuitem"
          className={classes.choice}
          data-autofocus={index === 0 || undefined}
          onClick={choose}
        >
          <span className={classes.key} aria-hidden>
            {shortcut}
          </span>
          {label}
        </UnstyledButton>
      ))}
    </div>
  );
}
