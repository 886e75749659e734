import { Anchor, Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useInvitePerson } from '../../queries/people.ts';
import { parseFieldErrors } from '../../components/field-errors.ts';
import type { Option } from '../../components/filter-definition.ts';
import { SelectedPills } from '../../components/selected-pills.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { OrganizationSelect } from '../../components/organization-select.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { currentUser } from '../../session/current-user.ts';
import { findAssessments } from './find-assessments.ts';
import { CopyableLink } from './copyable-link.tsx';
import { Dialog } from '../../components/dialog.tsx';

const FIELDS = ['email', 'name', 'admin', 'assessments', 'organization_uid'] as const;

/** Asks who is invited, and shows the link for them (operation 54). */
export function InvitePersonDialog({ onClose }: { onClose: () => void }) {
  const { data: who } = useQuery(currentUser);
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [admin, setAdmin] = useState(false);
  const [byMail, setByMail] = useState(true);
  const [organization, setOrganization] = useState<string | null>(null);
  const [given, setGiven] = useState<readonly Option[]>([]);
  const invite = useInvitePerson();
  const errors = parseFieldErrors(invite.error, FIELDS, 'email');
  if (invite.data !== undefined)
    return (
      <Dialog onClose={onClose} title="Invited">
        <Stack gap="sm">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <Anchor component={Link} to={`/people/${invite.data.id}`} size="sm" onClick={onClose}>
              {invite.data.email}
            </Anchor>{' '}
            is invited.
          </Text>
          <CopyableLink
            label="Link"
            description="Give it to them and to nobody else: whoever has it sets the password."
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
      title="Invite somebody"
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
          assessments: given.map(({ value }) => value),
          ...(organization === null ? {} : { organization_uid: organization }),
        })
      }
    >
      <OrganizationSelect
        value={organization}
        onChange={(uid) => {
          setOrganization(uid);
          setGiven([]);
        }}
        error={errors.messageFor('organization_uid')}
      />
      <TextInput
        type="email"
        label="E-mail address"
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
        label="Admin of the organization"
        description="Reaches everything in it, and invites and bans people."
        checked={admin}
        onChange={(event) => setAdmin(event.currentTarget.checked)}
        error={errors.messageFor('admin')}
      />
      {!admin && (
        <>
          <AsyncSelect
            label="Assessments that they reach"
            optionsKey={['assessments', organizationOf ?? '']}
            loadOptions={(search, signal) => findAssessments(search, signal, organizationOf)}
            value={null}
            clearsOnSelect
            disabled={who?.staff === true && organization === null}
            onChange={(one) =>
              one !== null && given.every(({ value }) => value !== one.value) && setGiven([...given, one])
            }
            error={errors.messageFor('assessments')}
          />
          <SelectedPills
            label="Assessments given"
            selected={given}
            onRemove={(value) => setGiven(given.filter((other) => other.value !== value))}
          />
        </>
      )}
      <Switch
        label="Send it by mail"
        description="Where this server sends any. You see the link in any case."
        checked={byMail}
        onChange={(event) => setByMail(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}
