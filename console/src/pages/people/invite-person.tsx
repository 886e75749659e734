import { Anchor, Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { findAssessments } from '../../queries/assessments.ts';
import { useInvitePerson } from '../../queries/people.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { parseFieldErrors } from '../../components/field-errors.ts';
import type { Option } from '../../components/filter-definition.ts';
import { SelectedPills } from '../../components/selected-pills.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { OrganizationSelect } from '../../components/organization-select.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { currentUser } from '../../session/current-user.ts';
import { CopyableLink } from './copyable-link.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { peopleMessages } from './messages.ts';

const FIELDS = ['email', 'name', 'admin', 'assessments', 'organization_uid'] as const;

const messages = peopleMessages.invite;

/** Invites a person and shows the invitation link (operation 54). */
export function InvitePersonDialog({ onClose }: { onClose: () => void }) {
  const { data: who } = useQuery(currentUser);
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [admin, setAdmin] = useState(false);
  const [byMail, setByMail] = useState(true);
  const [organization, setOrganization] = useState<string | null>(null);
  const [selected, setSelected] = useState<readonly Option[]>([]);
  const invite = useInvitePerson();
  const errors = parseFieldErrors(invite.error, FIELDS, 'email');
  if (invite.data !== undefined)
    return (
      <Dialog onClose={onClose} title={messages.done}>
        <Stack gap="sm">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {fillSentence(messages.invited, {
              person: (
                <Anchor component={Link} to={`/people/${invite.data.id}`} size="sm" onClick={onClose}>
                  {invite.data.email}
                </Anchor>
              ),
            })}
          </Text>
          <CopyableLink
            label={messages.link}
            description={messages.linkHint}
            link={invite.data.invite_url ?? ''}
          />
          <Group justify="flex-end">
            <Button data-autofocus onClick={onClose}>
              Close
            </Button>
          </Group>
        </Stack>
      </Dialog>
    );
  const organizationOf = who?.staff === true ? (organization ?? undefined) : undefined;
  return (
    <FormDialog
      title={messages.title}
      submitLabel="Invite"
      isPending={invite.isPending}
      error={errors.rest}
      onClose={onClose}
      onSubmit={() =>
        invite.mutate({
          email,
          ...(name.trim() === '' ? {} : { name }),
          admin,
          send_invite: byMail,
          assessments: selected.map(({ value }) => value),
          ...(organization === null ? {} : { organization_uid: organization }),
        })
      }
    >
      <OrganizationSelect
        value={organization}
        onChange={(uid) => {
          setOrganization(uid);
          setSelected([]);
        }}
        error={errors.messageFor('organization_uid')}
      />
      <TextInput
        type="email"
        label={messages.email}
        required
        data-autofocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={errors.messageFor('email')}
      />
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={errors.messageFor('name')}
      />
      <Switch
        label={messages.admin}
        description={messages.adminHint}
        checked={admin}
        onChange={(event) => setAdmin(event.currentTarget.checked)}
        error={errors.messageFor('admin')}
      />
      {!admin && (
        <>
          <AsyncSelect
            label={messages.assessments}
            optionsKey={['assessments', organizationOf ?? '']}
            loadOptions={(search, signal) => findAssessments(search, signal, organizationOf)}
            value={null}
            clearsOnSelect
            disabled={who?.staff === true && organization === null}
            onChange={(one) =>
              one !== null &&
              selected.every(({ value }) => value !== one.value) &&
              setSelected([...selected, one])
            }
            error={errors.messageFor('assessments')}
          />
          <SelectedPills
            label={messages.selectedAssessments}
            selected={selected}
            onRemove={(value) => setSelected(selected.filter((other) => other.value !== value))}
          />
        </>
      )}
      <Switch
        label={messages.byMail}
        description={messages.byMailHint}
        checked={byMail}
        onChange={(event) => setByMail(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}
