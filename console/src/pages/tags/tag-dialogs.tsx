import { Loader, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, AssayError } from '../../queries/client.ts';
import {
  createTag,
  deleteTag,
  renameTag,
  taggedCount,
  type TagKind,
  type TagRow,
  type TagScope,
  useRefreshTags,
} from '../../queries/tags.ts';
import { pluralize } from '../../components/pluralize.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, notify, notifyError } from '../../components/notifications.tsx';
import { toSentence } from '../../components/field-errors.ts';

/** What each kind is on: one, and many. */
const TAGGED_NOUNS: Readonly<Record<TagKind, readonly [one: string, many: string]>> = {
  vulnerability: ['vulnerability', 'vulnerabilities'],
  assessment: ['assessment', 'assessments'],
  asset: ['asset', 'assets'],
};

/** @returns how many things, in words: "3 assets" */
export function pluralizeTagged(kind: TagKind, count: number): string {
  return pluralize(count, ...TAGGED_NOUNS[kind]);
}

interface TagDialogProps {
  scope: TagScope;
  onClose: () => void;
}

/** Asks for the name of a new tag; for one of assessments, for the first of them as well. */
export function CreateTagDialog({
  scope,
  organizationId,
  onClose,
}: TagDialogProps & { organizationId: number | undefined }) {
  const [assessment, setAssessment] = useState<string | null>(null);
  const changed = useRefreshTags();
  const creation = useMutation({
    mutationFn: (name: string) =>
      createTag(scope, { name, assessment: assessment ?? undefined, organizationId }),
    onSuccess(_, name) {
      changed();
      notify(`The tag "${name}" was made.`);
      onClose();
    },
  });
  return (
    <NameDialog
      title={`New tag for ${TAGGED_NOUNS[scope.kind][1]}`}
      submitLabel="Make the tag"
      isPending={creation.isPending}
      error={creation.error}
      isReady={scope.kind !== 'assessment' || assessment !== null}
      onSubmit={creation.mutate}
      onClose={onClose}
    >
      {scope.kind === 'assessment' && (
        <AssessmentField
          organization={scope.organization}
          value={assessment}
          error={fieldErrorAt(creation.error, 'assessment_id')}
          onChange={setAssessment}
        />
      )}
    </NameDialog>
  );
}

/** What notices about a tag are about. */
const aboutTag = ({ kind }: TagScope, { key }: TagRow) => `tag ${kind} ${key}`;

/** Asks for another name of a tag. */
export function RenameTagDialog({ scope, tag, onClose }: TagDialogProps & { tag: TagRow }) {
  const changed = useRefreshTags();
  const topic = aboutTag(scope, tag);
  const undo = async () => {
    try {
      await renameTag(scope, tag.key, tag.name);
      changed();
      notify(`The tag is called "${tag.name}" again.`, { topic });
    } catch (error) {
      notifyError('It could not be undone', error);
    }
  };
  const renaming = useMutation({
    mutationFn: (name: string) => renameTag(scope, tag.key, name),
    onSuccess(_, name) {
      changed();
      notify(`"${tag.name}" is now called "${name}".`, { topic, undo: () => void undo() });
      onClose();
    },
  });
  return (
    <NameDialog
      title="Rename the tag"
      submitLabel="Rename"
      name={tag.name}
      isPending={renaming.isPending}
      error={renaming.error}
      onSubmit={renaming.mutate}
      onClose={onClose}
    >
      <Text size="sm" c="dimmed">
        The new name shows on all {TAGGED_NOUNS[scope.kind][1]} that have the tag.
      </Text>
    </NameDialog>
  );
}

/** Asks whether a tag is to go, and says what it will touch. */
export function DeleteTagDialog({ scope, tag, onClose }: TagDialogProps & { tag: TagRow }) {
  const changed = useRefreshTags();
  const { data: count, error } = useQuery(taggedCount(scope, tag.key));
  const deletion = useMutation({
    mutationFn: () => deleteTag(scope, tag.key),
    onSuccess() {
      changed();
      notify(`The tag "${tag.name}" was deleted.`, { topic: aboutTag(scope, tag) });
      onClose();
    },
  });
  return (
    <FormDialog
      title="Delete the tag"
      submitLabel="Delete"
      isDestructive
      isDisabled={count === undefined}
      isPending={deletion.isPending}
      error={deletion.error === null ? undefined : errorText(deletion.error)}
      onClose={onClose}
      onSubmit={deletion.mutate}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        Delete <b>{tag.name}</b>?
      </Text>
      <Text size="sm" aria-live="polite">
        {error !== null ? (
          errorText(error)
        ) : count === undefined ? (
          <Loader size="xs" />
        ) : count === 0 ? (
          `None of the ${TAGGED_NOUNS[scope.kind][1]} that you reach has it; others may.`
        ) : (
          `It comes off ${pluralizeTagged(scope.kind, count)}, and cannot be brought back.`
        )}
      </Text>
    </FormDialog>
  );
}

interface NameDialogProps {
  title: string;
  /** On the button. */
  submitLabel: string;
  name?: string;
  isReady?: boolean;
  isPending: boolean;
  error: Error | null;
  onSubmit: (name: string) => void;
  onClose: () => void;
  children?: ReactNode;
}

function NameDialog({ title, submitLabel, name = '', isReady = true, ...props }: NameDialogProps) {
  const { isPending: isSending, error, onSubmit, onClose, children } = props;
  const [typed, setTyped] = useState(name);
  const elsewhere = fieldErrorAt(error, 'assessment_id');
  return (
    <FormDialog
      title={title}
      submitLabel={submitLabel}
      isPending={isSending}
      isDisabled={!isReady || typed.trim() === '' || typed.trim() === name}
      onClose={onClose}
      onSubmit={() => onSubmit(typed.trim())}
    >
      <TextInput
        label="Name"
        data-autofocus
        required
        maxLength={255}
        value={typed}
        error={error !== null && elsewhere === undefined ? nameError(error) : undefined}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {children}
    </FormDialog>
  );
}

interface AssessmentFieldProps {
  organization: string;
  value: string | null;
  error: string | undefined;
  onChange: (uid: string | null) => void;
}

/** One assessment, found by its name. */
function AssessmentField({ organization, value, error, onChange }: AssessmentFieldProps) {
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search, 120);
  const { data = [] } = useQuery({
    queryKey: ['assessments', 'picked', organization, wanted],
    queryFn: async ({ signal }) =>
      (
        await api.GET('/v1/assessments', {
          params: {
            query: {
              'filter[search]': wanted,
              'filter[organization_uid][]': [organization],
              sort: 'name',
              'page[size]': 20,
            },
          },
          signal,
        })
      ).data,
    placeholderData: keepPreviousData,
  });
  return (
    <Select
      label="First assessment with it"
      description="More are tagged where they are listed."
      placeholder="Type to search"
      searchable
      required
      value={value}
      error={error}
      nothingFoundMessage="Nothing found."
      data={data.map(({ uid, name }) => ({ value: uid, label: name }))}
      filter={({ options }) => options}
      onSearchChange={setSearch}
      onChange={onChange}
    />
  );
}

function fieldErrorAt(error: Error | null, name: string): string | undefined {
  if (!(error instanceof AssayError)) return undefined;
  const fault = error.fieldErrors.find(({ property }) => property === name);
  return fault && toSentence(fault.message);
}

/** What is wrong with the name: told of it, or of the whole where it is taken. */
function nameError(error: Error): string {
  const [fault] = error instanceof AssayError ? error.fieldErrors : [];
  return toSentence(fault?.message ?? errorText(error));
}
