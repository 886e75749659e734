import { Button, Group, Loader, Menu, Paper, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { IconBan, IconChevronDown, IconPencil, IconRefresh, IconUserCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { User } from '../../../../client/src/description.ts';
import { person as personQuery, personName, useBanPerson, useUpdatePerson } from '../../queries/people.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { parseFieldErrors } from '../../components/field-errors.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { errorText } from '../../components/notifications.tsx';
import { PageLayout } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { currentUser } from '../../session/current-user.ts';
import { CopyableLink } from './copyable-link.tsx';
import { PersonAssessments } from './person-assessments.tsx';
import { UserStateBadge } from './user-state-badge.tsx';

/** One person: who they are, what they may do, what they reach. */
export function PersonPage() {
  const { id } = useParams({ from: '/people/$id' });
  const { data, error } = useQuery(personQuery(Number(id)));
  if (error !== null || data === undefined)
    return (
      <PageLayout title="Person">
        {error === null ? (
          <Loader size="sm" />
        ) : (
          <EmptyState title="This could not be read">{errorText(error)}</EmptyState>
        )}
      </PageLayout>
    );
  return <PersonDetails key={id} person={data} />;
}

type Dialog = 'ban' | 'rename';

function PersonDetails({ person }: { person: User }) {
  const { data: who } = useQuery(currentUser);
  const [dialog, setDialog] = useState<Dialog>();
  const change = useUpdatePerson();
  const name = personName(person);
  // Staff are not changed here, and nobody bans themselves.
  const mayChange = who?.admin === true && !person.staff;
  const isSelf = who?.id === person.id;
  const isInvited = typeof person.invite_url === 'string';
  return (
    <PageLayout
      title={name}
      actions={
        mayChange && (
          <Actions
            person={person}
            onDialog={setDialog}
            canBan={!isSelf}
            onReactivate={() =>
              change.mutate({ person, set: { reactivate: true }, message: `${name} can sign in again.` })
            }
            onReinvite={() =>
              change.mutate({
                person,
                set: { reinvite: true },
                message: 'There is a new link; the old one ended.',
              })
            }
          />
        )
      }
    >
      <Paper withBorder p="md" maw={960}>
        <Stack gap="md">
          <PersonFacts person={person} />
          {isInvited && (
            <CopyableLink
              label="Link of the invitation"
              description="Give it to them and to nobody else: whoever has it sets the password."
              link={person.invite_url ?? ''}
            />
          )}
          {mayChange && !person.banned && (
            <Switch
              label="Admin of the organization"
              description="Reaches everything in it, and invites and bans people."
              checked={person.admin === true}
              onChange={(event) => {
                const admin = event.currentTarget.checked;
                change.mutate({
                  person,
                  set: { admin },
                  message: admin ? `${name} is an admin.` : `${name} is no admin any more.`,
                  revert: { admin: !admin },
                });
              }}
            />
          )}
        </Stack>
      </Paper>
      <Paper withBorder p="md" maw={960} component="section">
        <Title order={2} size="h5" mb="xs">
          Assessments
        </Title>
        <PersonAssessments person={person} canEdit={mayChange} />
      </Paper>
      {dialog === 'ban' && <BanPersonDialog person={person} onClose={() => setDialog(undefined)} />}
      {dialog === 'rename' && <RenamePersonDialog person={person} onClose={() => setDialog(undefined)} />}
    </PageLayout>
  );
}

interface ActionsProps {
  person: User;
  canBan: boolean;
  onDialog: (dialog: Dialog) => void;
  onReactivate: () => void;
  onReinvite: () => void;
}

function Actions({ person, canBan, onDialog, onReactivate, onReinvite }: ActionsProps) {
  if (person.banned)
    return (
      <Button size="xs" leftSection={<IconUserCheck size={14} aria-hidden />} onClick={onReactivate}>
        Reactivate
      </Button>
    );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" rightSection={<IconChevronDown size={14} aria-hidden />}>
          Change
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={14} aria-hidden />} onClick={() => onDialog('rename')}>
          Name
        </Menu.Item>
        {typeof person.invite_url === 'string' && (
          <Menu.Item leftSection={<IconRefresh size={14} aria-hidden />} onClick={onReinvite}>
            New link
          </Menu.Item>
        )}
        {canBan && (
          <Menu.Item leftSection={<IconBan size={14} aria-hidden />} onClick={() => onDialog('ban')}>
            Ban
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function PersonFacts({ person }: { person: User }) {
  const { email, organization_uid, staff, admin, last_seen_at } = person;
  return (
    <DescriptionList>
      <DescriptionItem name="Address">
        {email.slice(0, email.lastIndexOf('@'))}
        <wbr />
        {email.slice(email.lastIndexOf('@'))}
      </DescriptionItem>
      <DescriptionItem name="State">
        <UserStateBadge person={person} />
      </DescriptionItem>
      <DescriptionItem name="Organization">{organization_uid ?? 'None'}</DescriptionItem>
      <DescriptionItem name="Role">
        {staff ? 'Platform staff' : admin === true ? 'Admin' : 'User'}
      </DescriptionItem>
      {last_seen_at !== undefined && (
        <DescriptionItem name="Last seen">
          {last_seen_at === null ? 'Never' : <Time at={last_seen_at} />}
        </DescriptionItem>
      )}
    </DescriptionList>
  );
}

interface DialogProps {
  person: User;
  onClose: () => void;
}

function BanPersonDialog({ person, onClose }: DialogProps) {
  const ban = useBanPerson();
  const navigate = useNavigate();
  const isInvited = typeof person.invite_url === 'string';
  return (
    <FormDialog
      title="Ban"
      submitLabel="Ban"
      isDestructive
      isPending={ban.isPending}
      error={ban.error === null ? undefined : errorText(ban.error)}
      onClose={onClose}
      onSubmit={() =>
        ban.mutate(person, { onSuccess: () => (isInvited ? void navigate({ to: '/people' }) : onClose()) })
      }
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <b>{personName(person)}</b>{' '}
        {isInvited
          ? 'never signed in: the invitation and its link end, and the person is gone from the list. An admin can invite the address again.'
          : 'is signed out everywhere at once, cannot sign in, and every token and API key of theirs ends for good. What they found, wrote and logged stays. They can be reactivated; what ended does not come back.'}
      </Text>
    </FormDialog>
  );
}

function RenamePersonDialog({ person, onClose }: DialogProps) {
  const [name, setName] = useState(person.name ?? '');
  const change = useUpdatePerson();
  const errors = parseFieldErrors(change.error, ['name']);
  return (
    <FormDialog
      title="Name"
      submitLabel="Save"
      isPending={change.isPending}
      error={errors.rest}
      onClose={onClose}
      onSubmit={() =>
        change.mutate(
          {
            person,
            set: { name },
            message: 'The name is changed.',
            ...(person.name === null ? {} : { revert: { name: person.name } }),
          },
          { onSuccess: onClose },
        )
      }
    >
      <Group grow>
        <TextInput
          label="Name"
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={errors.messageFor('name')}
        />
      </Group>
    </FormDialog>
  );
}
