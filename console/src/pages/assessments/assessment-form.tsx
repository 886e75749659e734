import { Alert, Button, Group, Select, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NewAssessment } from '../../../../client/src/description.ts';
import {
  assessment as assessmentQuery,
  useUpdateAssessment,
  useCreateAssessment,
  type VersionedAssessment,
} from '../../queries/assessments.ts';
import { api, AssayError, type Assessment } from '../../queries/client.ts';
import { ASSESSMENT_STATES, type AssessmentState, type AssessmentType } from '../../queries/enums.ts';
import { findGroups, group as groupQuery } from '../../queries/groups.ts';
import { parseFieldErrors } from '../../components/field-errors.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { commonMessages } from '../../components/messages.ts';
import { OrganizationSelect } from '../../components/organization-select.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { type Option, toOptions } from '../../components/filter-definition.ts';
import { ASSESSMENT_TYPE_LABELS } from './columns.tsx';
import { assessmentFormMessages as messages } from './messages.ts';
import { assessmentStateLabel } from './assessment-state-badge.tsx';

const FIELDS = [
  'name',
  'uid',
  'description',
  'type',
  'state',
  'assessment_group_id',
  'starts_on',
  'ends_on',
  'tag_list',
  'organization_uid',
] as const;

interface AssessmentFormProps {
  /** The assessment to edit; undefined to create one. */
  assessment?: VersionedAssessment;
  onClose: () => void;
  onSaved?: (saved: Assessment) => void;
}

/** Creates or edits an assessment (operations 38 and 39). */
export function AssessmentForm({ assessment, onClose, onSaved }: AssessmentFormProps) {
  const [values, setValues] = useState(() => formValues(assessment));
  const [organization, setOrganization] = useState<string | null>(null);
  const [uid, setUid] = useState('');
  const [group, setGroup] = useState<Option | null>();
  const [version, setVersion] = useState(assessment?.version);
  const create = useCreateAssessment();
  const change = useUpdateAssessment(assessment?.uid ?? '');
  const { error } = assessment === undefined ? create : change;
  const isConflict = error instanceof AssayError && error.status === 412;
  const errors = parseFieldErrors(isConflict ? null : error, FIELDS, 'uid');
  const groupId = assessment?.assessment_group_id ?? null;
  const { data: present } = useQuery({ ...groupQuery(groupId ?? 0), enabled: groupId !== null });
  const selectedGroup =
    group === undefined
      ? groupId === null
        ? null
        : { value: String(groupId), label: present?.name ?? String(groupId) }
      : group;
  const setText = (name: keyof typeof values) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setValues((now) => ({ ...now, [name]: value }));
  };

  const save = () => {
    const { starts_on, ends_on, tags, ...rest } = values;
    const dates = {
      starts_on: starts_on === '' ? null : starts_on,
      ends_on: ends_on === '' ? null : ends_on,
    };
    const groupOf = selectedGroup === null ? null : Number(selectedGroup.value);
    const onSuccess = (saved?: Assessment) => {
      onClose();
      if (saved !== undefined) onSaved?.(saved);
    };
    if (assessment !== undefined) {
      const set = { ...rest, ...dates, assessment_group_id: groupOf, tag_list: tags };
      change.mutate(
        { set, message: messages.saved, ...(version === undefined ? {} : { version }) },
        { onSuccess: () => onSuccess() },
      );
      return;
    }
    const body = {
      ...rest,
      ...omitNull({ ...dates, uid: uid === '' ? null : uid, assessment_group_id: groupOf }),
      ...omitNull({ organization_uid: organization }),
      tag_list: tags,
    } as NewAssessment;
    create.mutate(body, { onSuccess });
  };

  return (
    <FormDialog
      title={assessment === undefined ? messages.newTitle : messages.editTitle}
      submitLabel={assessment === undefined ? 'Create' : 'Save'}
      size="lg"
      isPending={create.isPending || change.isPending}
      error={errors.rest}
      onSubmit={save}
      onClose={onClose}
    >
      {isConflict && assessment !== undefined && (
        <ConflictAlert
          uid={assessment.uid}
          onDiscardMine={(now) => {
            setValues(formValues(now));
            setGroup(undefined);
            setVersion(now.version);
            change.reset();
          }}
          onKeepMine={(now) => {
            setVersion(now.version);
            change.reset();
          }}
        />
      )}
      {assessment === undefined && (
        <OrganizationSelect
          value={organization}
          onChange={setOrganization}
          error={errors.messageFor('organization_uid')}
        />
      )}
      <TextInput
        label="Name"
        required
        data-autofocus
        value={values.name}
        onChange={setText('name')}
        error={errors.messageFor('name')}
      />
      {assessment === undefined && (
        <TextInput
          label="ID"
          description={messages.idHint}
          value={uid}
          onChange={(event) => setUid(event.currentTarget.value)}
          error={errors.messageFor('uid')}
        />
      )}
      <Textarea
        label="Description"
        description={messages.markdown}
        autosize
        minRows={3}
        maxRows={12}
        value={values.description}
        onChange={setText('description')}
        error={errors.messageFor('description')}
      />
      <Group grow align="start" gap="sm">
        <Select
          label="Type"
          data={toOptions(ASSESSMENT_TYPE_LABELS)}
          allowDeselect={false}
          value={values.type}
          onChange={(type) => type !== null && setValues((now) => ({ ...now, type }))}
          error={errors.messageFor('type')}
        />
        {assessment === undefined && (
          <Select
            label="State"
            data={ASSESSMENT_STATES.map((value) => ({ value, label: assessmentStateLabel(value) }))}
            allowDeselect={false}
            value={values.state ?? 'active'}
            onChange={(state) => state !== null && setValues((now) => ({ ...now, state }))}
            error={errors.messageFor('state')}
          />
        )}
      </Group>
      <Group grow align="start" gap="sm">
        <TextInput
          type="date"
          label={messages.startDate}
          value={values.starts_on}
          onChange={setText('starts_on')}
          error={errors.messageFor('starts_on')}
        />
        <TextInput
          type="date"
          label={messages.endDate}
          value={values.ends_on}
          onChange={setText('ends_on')}
          error={errors.messageFor('ends_on')}
        />
      </Group>
      <AsyncSelect
        label="Group"
        optionsKey={['groups']}
        loadOptions={findGroups}
        value={selectedGroup}
        onChange={setGroup}
        clearable
        error={errors.messageFor('assessment_group_id')}
      />
      <AssessmentTags
        value={values.tags}
        onChange={(tags) => setValues((now) => ({ ...now, tags }))}
        error={errors.messageFor('tag_list')}
      />
    </FormDialog>
  );
}

interface AssessmentTagsProps {
  value: string[];
  onChange: (tags: string[]) => void;
  error: string | undefined;
}

/** An input for tag names that suggests existing tags. */
function AssessmentTags({ value, onChange, error }: AssessmentTagsProps) {
  const [search, setSearch] = useState('');
  const { data = [] } = useQuery({
    queryKey: ['assessment-tag-names', search],
    async queryFn({ signal }) {
      const query = { 'filter[search]': search, 'page[size]': 20 };
      const { data: tags } = await api.GET('/v1/assessment_tags', { params: { query }, signal });
      return [...new Set(tags.map(({ name }) => name))];
    },
  });
  return (
    <TagsInput
      label="Tags"
      description={messages.tagsHint}
      data={data}
      value={value}
      onChange={onChange}
      searchValue={search}
      onSearchChange={setSearch}
      error={error}
    />
  );
}

interface ConflictAlertProps {
  uid: string;
  onDiscardMine: (now: VersionedAssessment) => void;
  onKeepMine: (now: VersionedAssessment) => void;
}

/** Resolves a concurrent edit in favour of one side. */
function ConflictAlert({ uid, onDiscardMine, onKeepMine }: ConflictAlertProps) {
  const { data: now } = useQuery({ ...assessmentQuery(uid), staleTime: 0, refetchOnMount: 'always' });
  return (
    <Alert color="yellow" role="alert" title={messages.conflict}>
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="default"
          disabled={now === undefined}
          onClick={() => now && onDiscardMine(now)}
        >
          {commonMessages.conflict.theirs}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={now === undefined}
          onClick={() => now && onKeepMine(now)}
        >
          {commonMessages.conflict.mine}
        </Button>
      </Group>
    </Alert>
  );
}

function formValues(assessment?: Assessment) {
  return {
    name: assessment?.name ?? '',
    description: assessment?.description ?? '',
    type: (assessment?.type ?? 'web') as AssessmentType,
    ...(assessment === undefined ? { state: 'active' as AssessmentState } : {}),
    starts_on: assessment?.starts_on ?? '',
    ends_on: assessment?.ends_on ?? '',
    tags: assessment?.tags.map(({ name }) => name) ?? [],
  };
}

function omitNull(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}
