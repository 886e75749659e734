import { Anchor, Loader, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, AssayError } from '../../queries/client.ts';
import {
  createTag,
  deleteTag,
  renameTag,
  taggedCountQuery,
  type TagRow,
  type TagScope,
  useRefreshTags,
} from '../../queries/tags.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, notify, notifyError } from '../../components/notifications.ts';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { toSentence } from '../../components/field-errors.ts';
import { tagMessages } from './messages.ts';
import { commonMessages } from '../../components/messages.ts';

const messages = tagMessages;

interface TagDialogProps {
  scope: TagScope;
  onClose: () => void;
}

/** Creates a tag; a tag of assessments needs a first assessment. */
export function CreateTagDialog({
  scope,
  organizationId,
  onClose,
}: TagDialogProps & { organizationId: number | undefined }) {
  const [assessment, setAssessment] = useState<string | null>(null);
  const changed = useRefreshTags();
  const creation = useMutation({
    mutationFn: (name: string) =>
      createTag(scope, { name, assessmentUid: assessment ?? undefined, organizationId }),
    onSuccess(_, name) {
      changed();
      notify(messages.created(name));
      onClose();
    },
  });
  return (
    <NameDialog
      scope={scope}
      title={messages.newTagFor(scope.kind)}
      submitLabel={messages.create}
      isPending={creation.isPending}
      error={creation.error}
      isReady={scope.kind !== 'assessment' || assessment !== null}
      onSubmit={creation.mutate}
      onClose={onClose}
    >
      {scope.kind === 'assessment' && (
        <AssessmentField
          organizationUid={scope.organizationUid}
          value={assessment}
          error={fieldErrorAt(creation.error, 'assessment_id')}
          onChange={setAssessment}
        />
      )}
    </NameDialog>
  );
}

/** Notification topic of a tag. */
const tagTopic = ({ kind }: TagScope, { key }: TagRow) => `tag ${kind} ${key}`;

/** Renames a tag, with undo. */
export function RenameTagDialog({ scope, tag, onClose }: TagDialogProps & { tag: TagRow }) {
  const changed = useRefreshTags();
  const topic = tagTopic(scope, tag);
  const undo = async () => {
    try {
      await renameTag(scope, tag.key, tag.name);
      changed();
      notify(messages.renameUndone(tag.name), { topic });
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  const renaming = useMutation({
    mutationFn: (name: string) => renameTag(scope, tag.key, name),
    onSuccess(_, name) {
      changed();
      notify(messages.renamed(tag.name, name), { topic, undo: () => void undo() });
      onClose();
    },
  });
  return (
    <NameDialog
      scope={scope}
      title={messages.renameTitle}
      submitLabel="Rename"
      name={tag.name}
      isPending={renaming.isPending}
      error={renaming.error}
      onSubmit={renaming.mutate}
      onClose={onClose}
    >
      <DimmedText>{messages.renameHint(scope.kind)}</DimmedText>
    </NameDialog>
  );
}

/** Deletes a tag after showing how many objects have it. */
export function DeleteTagDialog({ scope, tag, onClose }: TagDialogProps & { tag: TagRow }) {
  const changed = useRefreshTags();
  const { data: count, error } = useQuery(taggedCountQuery(scope, tag.key));
  const deletion = useMutation({
    mutationFn: () => deleteTag(scope, tag.key),
    onSuccess() {
      changed();
      notify(messages.removed(tag.name), { topic: tagTopic(scope, tag) });
      onClose();
    },
  });
  return (
    <FormDialog
      title={messages.removeTitle}
      submitLabel="Delete"
      isDestructive
      isDisabled={count === undefined}
      isPending={deletion.isPending}
      error={errorText(deletion.error)}
      onClose={onClose}
      onSubmit={deletion.mutate}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>{messages.removeQuestion(tag.name)}</Text>
      <Text size="sm" aria-live="polite">
        {error !== null ? (
          errorText(error)
        ) : count === undefined ? (
          <Loader size="xs" />
        ) : count === 0 ? (
          messages.removeUnused(scope.kind)
        ) : (
          messages.removeWarning(scope.kind, count)
        )}
      </Text>
    </FormDialog>
  );
}

interface NameDialogProps {
  scope: TagScope;
  title: string;
  submitLabel: string;
  name?: string;
  isReady?: boolean;
  isPending: boolean;
  error: Error | null;
  onSubmit: (name: string) => void;
  onClose: () => void;
  children?: ReactNode;
}

function NameDialog({ scope, title, submitLabel, name = '', isReady = true, ...props }: NameDialogProps) {
  const { isPending: isSending, error, onSubmit, onClose, children } = props;
  const [typed, setTyped] = useState(name);
  const [submitted, setSubmitted] = useState('');
  const assessmentError = fieldErrorAt(error, 'assessment_id');
  const conflict = { kind: scope.kind, organization: scope.organizationUid, search: submitted };
  return (
    <FormDialog
      title={title}
      submitLabel={submitLabel}
      isPending={isSending}
      isDisabled={!isReady || typed.trim() === '' || typed.trim() === name}
      onClose={onClose}
      onSubmit={() => {
        setSubmitted(typed.trim());
        onSubmit(typed.trim());
      }}
    >
      <TextInput
        label="Name"
        data-autofocus
        required
        maxLength={255}
        value={typed}
        error={
          error !== null &&
          assessmentError === undefined && (
            <>
              {nameError(error)}{' '}
              {error instanceof AssayError && error.status === 409 && (
                <Anchor
                  inherit
                  onClick={onClose}
                  renderRoot={(root) => <Link to="/tags" search={conflict} {...root} />}
                >
                  {messages.showConflict}
                </Anchor>
              )}
            </>
          )
        }
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {children}
    </FormDialog>
  );
}

interface AssessmentFieldProps {
  organizationUid: string;
  value: string | null;
  error: string | undefined;
  onChange: (uid: string | null) => void;
}

function AssessmentField({ organizationUid, value, error, onChange }: AssessmentFieldProps) {
  const [search, setSearch] = useState('');
  const [debouncedSearch] = useDebouncedValue(search, 120);
  const { data = [] } = useQuery({
    queryKey: ['assessments', 'picked', organizationUid, debouncedSearch],
    queryFn: async ({ signal }) =>
      (
        await api.GET('/v1/assessments', {
          params: {
            query: {
              'filter[search]': debouncedSearch,
              'filter[organization_uid][]': [organizationUid],
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
      label={messages.firstAssessment}
      description={messages.firstAssessmentHint}
      placeholder={commonMessages.typeToSearch}
      searchable
      required
      value={value}
      error={error}
      nothingFoundMessage={commonMessages.list.noResults}
      data={data.map(({ uid, name }) => ({ value: uid, label: name }))}
      filter={({ options }) => options}
      onSearchChange={setSearch}
      onChange={onChange}
    />
  );
}

function fieldErrorAt(error: Error | null, name: string): string | undefined {
  if (!(error instanceof AssayError)) return undefined;
  const fieldError = error.fieldErrors.find(({ property }) => property === name);
  return fieldError && toSentence(fieldError.message);
}

/** The error of the field, or of the request if the name is in use. */
function nameError(error: Error): string {
  const [fieldError] = error instanceof AssayError ? error.fieldErrors : [];
  return toSentence(fieldError?.message ?? errorText(error));
}
