import { Alert, Button, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { AssayError, type AssessmentGroup } from '../../queries/client.ts';
import { group as groupQuery, useGroupMutations } from '../../queries/groups.ts';
import { parseFieldErrors } from '../../components/field-errors.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { commonMessages } from '../../components/messages.ts';
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
  const [name, setName] = useState(group?.name ?? '');
  const [description, setDescription] = useState(group?.description ?? '');
  const [organization, setOrganization] = useState<string | null>(null);
  const [version, setVersion] = useState(group?.version ?? '*');
  const { create, change } = useGroupMutations();
  const client = useQueryClient();
  const { error } = group === undefined ? create : change;
  const isConflict = error instanceof AssayError && error.status === 412;
  const errors = parseFieldErrors(isConflict ? null : error, ['name', 'description', 'organization_uid']);
  const resolveConflict = async (use: 'mine' | 'theirs') => {
    if (group === undefined) return;
    const current = await client.fetchQuery({ ...groupQuery(group.id), staleTime: 0 });
    if (use === 'theirs') {
      setName(current.name);
      setDescription(current.description);
    }
    setVersion(current.version);
    change.reset();
  };
  const save = () => {
    const onSuccess = (saved: AssessmentGroup) => {
      onClose();
      onSaved?.(saved);
    };
    if (group !== undefined)
      change.mutate({ id: group.id, set: { name, description }, version }, { onSuccess });
    else
      create.mutate(
        { name, description, ...(organization === null ? {} : { organization_uid: organization }) },
        { onSuccess },
      );
  };
  return (
    <FormDialog
      title={group === undefined ? groupMessages.newGroup : messages.edit}
      submitLabel={group === undefined ? 'Create' : 'Save'}
      isPending={create.isPending || change.isPending}
      error={errors.rest}
      onSubmit={save}
      onClose={onClose}
    >
      {isConflict && (
        <Alert color="yellow" role="alert" title={messages.conflict}>
          <Button size="compact-sm" variant="default" mr="xs" onClick={() => void resolveConflict('theirs')}>
            {commonMessages.conflict.theirs}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => void resolveConflict('mine')}>
            {commonMessages.conflict.mine}
          </Button>
        </Alert>
      )}
      {group === undefined && (
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
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={errors.messageFor('name')}
      />
      <Textarea
        label="Description"
        description="Markdown"
        autosize
        minRows={3}
        maxRows={12}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        error={errors.messageFor('description')}
      />
    </FormDialog>
  );
}
