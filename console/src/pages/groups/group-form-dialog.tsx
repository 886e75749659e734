import { Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AssessmentGroup } from '../../queries/client.ts';
import { groupQuery, useGroupMutations } from '../../queries/groups.ts';
import { useApiForm } from '../../components/field-errors.ts';
import { ConflictAlert, FormDialog } from '../../components/form-dialog.tsx';
import { OrganizationSelect } from '../../components/organization-select.tsx';
import { groupMessages } from './messages.ts';

interface GroupFormProps {
  /** The group to edit; undefined to create one. */
  group?: AssessmentGroup & { version: string };
  onClose: () => void;
  onSaved?: (saved: AssessmentGroup) => void;
}

const messages = groupMessages.form;

/** Creates or edits a group (operations 44 and 45). */
export function GroupFormDialog({ group, onClose, onSaved }: GroupFormProps) {
  const [version, setVersion] = useState(group?.version ?? '*');
  const { create, change } = useGroupMutations();
  const client = useQueryClient();
  const { error, isPending } = group === undefined ? create : change;
  const { values, setValues, field, rest, isConflict } = useApiForm(
    {
      name: group?.name ?? '',
      description: group?.description ?? '',
      organization_uid: null as string | null,
    },
    error,
  );
  const resolveConflict = (side: 'mine' | 'theirs') => async () => {
    if (group === undefined) return;
    const latest = await client.fetchQuery({ ...groupQuery(group.id), staleTime: 0 });
    if (side === 'theirs') setValues({ name: latest.name, description: latest.description });
    setVersion(latest.version);
    change.reset();
  };
  const save = () => {
    const { organization_uid, ...set } = values;
    const onSuccess = (saved: AssessmentGroup) => {
      onClose();
      onSaved?.(saved);
    };
    if (group !== undefined) change.mutate({ id: group.id, set, version }, { onSuccess });
    else create.mutate({ ...set, ...(organization_uid === null ? {} : { organization_uid }) }, { onSuccess });
  };
  return (
    <FormDialog
      title={group === undefined ? groupMessages.newGroup : messages.edit}
      submitLabel={group === undefined ? 'Create' : 'Save'}
      isPending={isPending}
      error={rest}
      onSubmit={save}
      onClose={onClose}
    >
      {isConflict && (
        <ConflictAlert
          title={messages.conflict}
          onTheirs={resolveConflict('theirs')}
          onMine={resolveConflict('mine')}
        />
      )}
      {group === undefined && <OrganizationSelect {...field('organization_uid')} />}
      <TextInput label="Name" required data-autofocus {...field('name')} />
      <Textarea
        label="Description"
        description="Markdown"
        autosize
        minRows={3}
        maxRows={12}
        {...field('description')}
      />
    </FormDialog>
  );
}
