import { Group, Select, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { NewAssessment } from '../../../../client/src/openapi-types.ts';
import {
  assessmentQuery,
  useUpdateAssessment,
  useCreateAssessment,
  type VersionedAssessment,
} from '../../queries/assessments.ts';
import { api, type Assessment } from '../../queries/client.ts';
import { ASSESSMENT_STATES, type AssessmentState, type AssessmentType } from '../../queries/enums.ts';
import { findGroups, groupQuery } from '../../queries/groups.ts';
import { useApiForm } from '../../components/field-errors.ts';
import { ConflictAlert, FormDialog } from '../../components/form-dialog.tsx';
import { currentUserQuery, useOwnGroups } from '../../session/permissions.ts';
import { OrganizationSelect } from '../../components/organization-select.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { type Option, toOptions } from '../../components/filter-definition.ts';
import { ASSESSMENT_TYPE_LABELS } from './columns.tsx';
import { assessmentFormMessages as messages, assessmentMessages } from './messages.ts';
import { assessmentStateLabel } from './assessment-state-badge.tsx';
import { uidOfName } from './uid-of-name.ts';

interface AssessmentFormProps {
  /** The assessment to edit; undefined to create one. */
  assessment?: VersionedAssessment;
  onClose: () => void;
  onSaved?: (saved: Assessment) => void;
}

/** Creates or edits an assessment (operations 38 and 39). */
export function AssessmentForm({ assessment, onClose, onSaved }: AssessmentFormProps) {
  const [version, setVersion] = useState(assessment?.version);
  const client = useQueryClient();
  const create = useCreateAssessment();
  const change = useUpdateAssessment(assessment?.uid ?? '');
  const { error, isPending } = assessment === undefined ? create : change;
  const { values, setValues, field, rest, isConflict } = useApiForm(formValues(assessment), error, 'uid');
  const newUid = values.uid ?? uidOfName(values.name);
  const groupId = assessment?.assessment_group_id ?? null;
  const { data: present } = useQuery({ ...groupQuery(groupId ?? 0), enabled: groupId !== null });
  const currentGroup =
    groupId === null ? null : { value: String(groupId), label: present?.name ?? String(groupId) };
  const group = values.assessment_group_id === undefined ? currentGroup : values.assessment_group_id;
  const { data: user } = useQuery(currentUserQuery);
  const ownGroups = useOwnGroups();
  const isAdmin = user?.admin === true;
  // Users other than admins create assessments in their groups, and move them between those that they manage.
  const targetGroups = ownGroups
    ?.filter(({ creates, manages }) => (assessment === undefined ? creates : manages))
    .map(({ id, name }) => ({ value: String(id), label: name }));
  const canMove =
    isAdmin ||
    assessment === undefined ||
    (groupId !== null && targetGroups?.some(({ value }) => value === String(groupId)) === true);
  const resolve = (side: 'mine' | 'theirs') => async () => {
    if (assessment === undefined) return;
    const latest = await client.fetchQuery({ ...assessmentQuery(assessment.uid), staleTime: 0 });
    if (side === 'theirs') setValues(formValues(latest));
    setVersion(latest.version);
    change.reset();
  };
  const save = () => {
    const { uid: _, organization_uid, state, drafts, ...common } = values;
    const set = {
      ...common,
      ...(user?.staff === true ? { drafts } : {}),
      starts_on: values.starts_on === '' ? null : values.starts_on,
      ends_on: values.ends_on === '' ? null : values.ends_on,
      assessment_group_id: group === null ? null : Number(group.value),
    };
    if (assessment !== undefined)
      change.mutate(
        { set, message: messages.saved, ...(version === undefined ? {} : { version }) },
        { onSuccess: onClose },
      );
    else
      create.mutate(omitNull({ ...set, state, uid: newUid === '' ? null : newUid, organization_uid }), {
        onSuccess(saved) {
          onClose();
          onSaved?.(saved);
        },
      });
  };
  return (
    <FormDialog
      title={assessment === undefined ? messages.newTitle : messages.editTitle}
      submitLabel={assessment === undefined ? 'Create' : 'Save'}
      size="lg"
      isPending={isPending}
      error={rest}
      onSubmit={save}
      onClose={onClose}
    >
      {isConflict && (
        <ConflictAlert title={messages.conflict} onTheirs={resolve('theirs')} onMine={resolve('mine')} />
      )}
      {assessment === undefined && <OrganizationSelect {...field('organization_uid')} />}
      <TextInput label="Name" required data-autofocus {...field('name')} />
      {assessment === undefined && (
        <TextInput label="ID" description={messages.idHint} maxLength={50} {...field('uid')} value={newUid} />
      )}
      <Textarea
        label="Description"
        description={messages.markdown}
        autosize
        minRows={3}
        maxRows={12}
        {...field('description')}
      />
      <Group grow align="start" gap="sm">
        <Select
          label="Type"
          data={toOptions(ASSESSMENT_TYPE_LABELS)}
          allowDeselect={false}
          {...field('type')}
        />
        {assessment === undefined && (
          <Select
            label="State"
            data={ASSESSMENT_STATES.map((value) => ({ value, label: assessmentStateLabel(value) }))}
            allowDeselect={false}
            {...field('state')}
          />
        )}
      </Group>
      {user?.staff === true && (
        <Select
          label="Drafts"
          description={messages.draftsHint}
          data={toOptions(assessmentMessages.draftPolicies)}
          allowDeselect={false}
          {...field('drafts')}
        />
      )}
      <Group grow align="start" gap="sm">
        <TextInput type="date" label={messages.startDate} {...field('starts_on')} />
        <TextInput type="date" label={messages.endDate} {...field('ends_on')} />
      </Group>
      {canMove &&
        (isAdmin ? (
          <AsyncSelect
            label="Group"
            optionsKey={['groups']}
            loadOptions={findGroups}
            clearable
            {...field('assessment_group_id')}
            value={group}
          />
        ) : (
          <Select
            label="Group"
            required
            allowDeselect={false}
            data={targetGroups ?? []}
            {...field('assessment_group_id')}
            value={group?.value ?? null}
            onChange={(value) =>
              field('assessment_group_id').onChange(
                targetGroups?.find((option) => option.value === value) ?? null,
              )
            }
          />
        ))}
      <AssessmentTags {...field('tag_list')} />
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

function formValues(assessment?: Assessment) {
  return {
    organization_uid: null as string | null,
    /** Null until it is edited: it is made from the name. */
    uid: null as string | null,
    name: assessment?.name ?? '',
    description: assessment?.description ?? '',
    type: (assessment?.type ?? 'web') as AssessmentType,
    state: 'active' as AssessmentState,
    drafts: assessment?.drafts ?? 'off',
    starts_on: assessment?.starts_on ?? '',
    ends_on: assessment?.ends_on ?? '',
    /** Undefined unless the user selects another group. */
    assessment_group_id: undefined as Option | null | undefined,
    tag_list: assessment?.tags.map(({ name }) => name) ?? [],
  };
}

const omitNull = (members: object) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) as NewAssessment;
