import { Button, Checkbox, Group, Loader, Stack, Text, Textarea, UnstyledButton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { api } from '../../queries/client.ts';
import { statuses } from '../../queries/vulnerabilities.ts';
import { useChangeVulnerabilities } from '../../queries/bulk-update.ts';
import { vulnerabilitiesText } from '../../components/pluralize.ts';
import { Dialog } from '../../components/dialog.tsx';
import { useKeptComment } from '../../components/comment-draft.ts';
import { errorText, tell } from '../../components/notifications.tsx';
import { SEVERITIES, SeverityMark } from '../../components/severity-badge.tsx';
import { PersonPicker } from '../../components/person-picker.tsx';
import { whoAmI } from '../../session/current-user.ts';
import { TagNames } from './tag-names-input.tsx';
import classes from './edit-dialogs.module.css';

export type TriageKind = 'status' | 'severity' | 'tags' | 'assignee' | 'comment';

interface TriageProps {
  kind: TriageKind;
  ids: readonly number[];
  onClose: () => void;
}

const TITLES: Readonly<Record<TriageKind, string>> = {
  status: 'Set the status',
  severity: 'Set the severity',
  tags: 'Add tags',
  assignee: 'Assign to',
  comment: 'Comment',
};

/** Asks for the one thing that a key or a button changes, of one vulnerability or of many. */
export function Triage({ kind, ids: begun, onClose }: TriageProps) {
  // Rows may move behind it.
  const [ids] = useState(begun);
  const Form = FORMS[kind];
  return (
    <Dialog onClose={onClose} title={TITLES[kind]} size="sm">
      <Stack gap="sm">
        {ids.length > 1 && <Text size="sm">Of {vulnerabilitiesText(ids.length)}.</Text>}
        <Form ids={ids} onClose={onClose} />
      </Stack>
    </Dialog>
  );
}

type FormProps = Omit<TriageProps, 'kind'>;

function StatusForm({ ids, onClose }: FormProps) {
  const { data: known = [] } = useQuery(statuses);
  const change = useChangeVulnerabilities();
  return (
    <Choices
      choices={known.map(({ id, name }) => ({
        key: String(id),
        label: name,
        choose() {
          change.mutate({ ids, set: { status_id: id }, what: name });
          onClose();
        },
      }))}
    />
  );
}

function SeverityForm({ ids, onClose }: FormProps) {
  const change = useChangeVulnerabilities();
  return (
    <Choices
      choices={SEVERITIES.map((severity, index) => ({
        key: String(index + 1),
        label: <SeverityMark severity={severity} />,
        choose() {
          change.mutate({ ids, set: { severity }, what: severity });
          onClose();
        },
      }))}
    />
  );
}

function TagsForm({ ids, onClose }: FormProps) {
  const [names, setNames] = useState<string[]>([]);
  const change = useChangeVulnerabilities();
  return (
    <Saved
      label="Add"
      disabled={names.length === 0}
      onSave={() => {
        change.mutate({ ids, set: { add_tags: names }, what: names.join(', ') });
        onClose();
      }}
    >
      <TagNames label="Tags" description="A name that is new is created." onChange={setNames} />
    </Saved>
  );
}

function AssigneeForm({ ids, onClose }: FormProps) {
  const change = useChangeVulnerabilities();
  return (
    <PersonPicker
      label="Person"
      onPick={(person) => {
        change.mutate({
          ids,
          set: { assignee_id: person?.id ?? null },
          person,
          what: person === null ? 'Nobody' : (person.name ?? person.email),
        });
        onClose();
      }}
    />
  );
}

function CommentForm(props: FormProps) {
  const { data: who } = useQuery(whoAmI);
  return who === undefined ? <Loader size="sm" /> : <WriteComment {...props} who={who} />;
}

function WriteComment({ ids, who, onClose }: FormProps & { who: { id: number; staff: boolean } }) {
  const { text, internal, isRestored, setText, setInternal, forget } = useKeptComment(who.id, ids);
  const client = useQueryClient();
  const send = useMutation({
    async mutationFn() {
      for (const id of ids)
        await api.POST('/v1/vulnerabilities/{id}/comments', {
          params: { path: { id } },
          body: { text, internal },
        });
    },
    onSuccess() {
      forget();
      for (const id of ids) void client.invalidateQueries({ queryKey: ['vulnerability', id] });
      tell(ids.length === 1 ? 'The comment stands.' : `The comment stands at ${ids.length}.`);
      onClose();
    },
  });
  return (
    <Saved label="Send" disabled={text.trim() === ''} busy={send.isPending} onSave={() => send.mutate()}>
      <Textarea
        label="Comment"
        description={
          isRestored ? 'Markdown. You wrote this before in this browser and did not send it.' : 'Markdown'
        }
        data-autofocus
        autosize
        minRows={4}
        maxRows={12}
        value={text}
        error={send.error === null ? undefined : errorText(send.error)}
        onChange={(event) => {
          const written = event.currentTarget.value;
          setText(() => written);
        }}
      />
      {who.staff && (
        <Checkbox
          label="Internal: staff alone see it"
          checked={internal}
          onChange={(event) => setInternal(event.currentTarget.checked)}
        />
      )}
    </Saved>
  );
}

const FORMS = {
  status: StatusForm,
  severity: SeverityForm,
  tags: TagsForm,
  assignee: AssigneeForm,
  comment: CommentForm,
} as const;

interface SavedProps {
  label: string;
  disabled: boolean;
  busy?: boolean;
  onSave: () => void;
  children: ReactNode;
}

function Saved({ label, disabled, busy = false, onSave, children }: SavedProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!disabled && !busy) onSave();
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

interface ChoicesProps {
  choices: readonly { key: string; label: ReactNode; choose: () => void }[];
}

/** One of a few, by its number, by the arrow keys or by a click. */
function Choices({ choices }: ChoicesProps) {
  const list = useRef<HTMLDivElement>(null);
  const hear = (event: KeyboardEvent) => {
    const chosen = choices.find(({ key }) => key === event.key);
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (chosen !== undefined) chosen.choose();
    else if (step !== undefined) buttons[(at + step + buttons.length) % buttons.length]?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <div ref={list} role="menu" tabIndex={-1} onKeyDown={hear}>
      {choices.map(({ key, label, choose }, index) => (
        <UnstyledButton
          key={key}
          role="menuitem"
          className={classes.choice}
          data-autofocus={index === 0 || undefined}
          onClick={choose}
        >
          <span className={classes.key} aria-hidden>
            {key}
          </span>
          {label}
        </UnstyledButton>
      ))}
    </div>
  );
}
