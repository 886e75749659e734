import { Loader, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, AssayError } from '../../queries/client.ts';
import {
  createTag,
  deleteTag,
  renameTag,
  tagged,
  type TagKind,
  type TagRow,
  type TagsOf,
  useTagsChanged,
} from '../../queries/tags.ts';
import { counted } from '../../components/pluralize.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, tell, tellError } from '../../components/notifications.tsx';

/** What each kind is on: one, and many. */
const THINGS: Readonly<Record<TagKind, readonly [one: string, many: string]>> = {
  vulnerability: ['vulnerability', 'vulnerabilities'],
  assessment: ['assessment', 'assessments'],
  asset: ['asset', 'assets'],
};

/** @returns how many things, in words: "3 assets" */
export function thingsText(kind: TagKind, count: number): string {
  return counted(count, ...THINGS[kind]);
}

interface TagDialogProps {
  of: TagsOf;
  onClose: () => void;
}

/** Asks for the name of a new tag; for one of assessments, for the first of them as well. */
export function CreateTag({
  of,
  organizationId,
  onClose,
}: TagDialogProps & { organizationId: number | undefined }) {
  const [assessment, setAssessment] = useState<string | null>(null);
  const changed = useTagsChanged();
  const creation = useMutation({
    mutationFn: (name: string) =>
      createTag(of, { name, assessment: assessment ?? undefined, organizationId }),
    onSuccess(_, name) {
      changed();
      tell(`The tag "${name}" was made.`);
      onClose();
    },
  });
  return (
    <NameDialog
      title={`New tag for ${THINGS[of.kind][1]}`}
      does="Make the tag"
      isSending={creation.isPending}
      error={creation.error}
      isReady={of.kind !== 'assessment' || assessment !== null}
      onSend={creation.mutate}
      onClose={onClose}
    >
      {of.kind === 'assessment' && (
        <AssessmentField
          organization={of.organization}
          value={assessment}
          error={faultAt(creation.error, 'assessment_id')}
          onChange={setAssessment}
        />
      )}
    </NameDialog>
  );
}

/** What notices about a tag are about. */
const aboutTag = ({ kind }: TagsOf, { key }: TagRow) => `tag ${kind} ${key}`;

/** Asks for another name of a tag. */
export function RenameTag({ of, tag, onClose }: TagDialogProps & { tag: TagRow }) {
  const changed = useTagsChanged();
  const about = aboutTag(of, tag);
  const undo = async () => {
    try {
      await renameTag(of, tag.key, tag.name);
      changed();
      tell(`The tag is called "${tag.name}" again.`, { about });
    } catch (error) {
      tellError('It could not be undone', error);
    }
  };
  const renaming = useMutation({
    mutationFn: (name: string) => renameTag(of, tag.key, name),
    onSuccess(_, name) {
      changed();
      tell(`"${tag.name}" is now called "${name}".`, { about, undo: () => void undo() });
      onClose();
    },
  });
  return (
    <NameDialog
      title="Rename the tag"
      does="Rename"
      name={tag.name}
      isSending={renaming.isPending}
      error={renaming.error}
      onSend={renaming.mutate}
      onClose={onClose}
    >
      <Text size="sm" c="dimmed">
        The new name shows on all {THINGS[of.kind][1]} that have the tag.
      </Text>
    </NameDialog>
  );
}

/** Asks whether a tag is to go, and says what it will touch. */
export function DeleteTag({ of, tag, onClose }: TagDialogProps & { tag: TagRow }) {
  const changed = useTagsChanged();
  const { data: count, error } = useQuery(tagged(of, tag.key));
  const deletion = useMutation({
    mutationFn: () => deleteTag(of, tag.key),
    onSuccess() {
      changed();
      tell(`The tag "${tag.name}" was deleted.`, { about: aboutTag(of, tag) });
      onClose();
    },
  });
  return (
    <FormDialog
      title="Delete the tag"
      save="Delete"
      grave
      disabled={count === undefined}
      busy={deletion.isPending}
      error={deletion.error === null ? undefined : errorText(deletion.error)}
      onClose={onClose}
      onSave={deletion.mutate}
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
          `None of the ${THINGS[of.kind][1]} that you reach has it; others may.`
        ) : (
          `It comes off ${thingsText(of.kind, count)}, and cannot be brought back.`
        )}
      </Text>
    </FormDialog>
  );
}

interface NameDialogProps {
  title: string;
  /** On the button. */
  does: string;
  name?: string;
  isReady?: boolean;
  isSending: boolean;
  error: Error | null;
  onSend: (name: string) => void;
  onClose: () => void;
  children?: ReactNode;
}

function NameDialog({ title, does, name = '', isReady = true, ...props }: NameDialogProps) {
  const { isSending, error, onSend, onClose, children } = props;
  const [typed, setTyped] = useState(name);
  const elsewhere = faultAt(error, 'assessment_id');
  return (
    <FormDialog
      title={title}
      save={does}
      busy={isSending}
      disabled={!isReady || typed.trim() === '' || typed.trim() === name}
      onClose={onClose}
      onSave={() => onSend(typed.trim())}
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

function faultAt(error: Error | null, name: string): string | undefined {
  if (!(error instanceof AssayError)) return undefined;
  const fault = error.faults.find(({ property }) => property === name);
  return fault && sentence(fault.message);
}

/** What is wrong with the name: told of it, or of the whole where it is taken. */
function nameError(error: Error): string {
  const [fault] = error instanceof AssayError ? error.faults : [];
  return sentence(fault?.message ?? errorText(error));
}

const sentence = (text: string) =>
  `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
