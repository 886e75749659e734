import { Button, Menu, Switch, Text, TextInput } from '@mantine/core';
import { IconUserCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { User } from '../../../../client/src/openapi-types.ts';
import { personQuery, personName, useBanPerson, useUpdatePerson } from '../../queries/people.ts';
import { parseFieldErrors } from '../../components/field-errors.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { errorText } from '../../components/notifications.ts';
import { PageFallback } from '../../components/page-fallback.tsx';
import { commonMessages } from '../../components/messages.ts';
import { MoreMenu } from '../../components/more-menu.tsx';
import { PageLayout } from '../../components/page.tsx';
import { Columns, PageSection } from '../../components/section.tsx';
import { OrganizationName } from '../../components/identity-marks.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { CopyableLink } from './copyable-link.tsx';
import { PersonAssessments } from './person-assessments.tsx';
import { UserStateBadge } from './user-state-badge.tsx';
import { peopleMessages } from './messages.ts';

const messages = peopleMessages.actions;

/** The page of one person: details, role and access to assessments. */
export function PersonPage() {
  const { id } = useParams({ from: '/people/$id' });
  const { data, error, refetch } = useQuery(personQuery(Number(id)));
  if (error !== null || data === undefined)
    return <PageFallback noun="person" list="/people" error={error} refetch={refetch} />;
  return <PersonDetails key={id} person={data} />;
}

type Dialog = 'ban' | 'rename';

function PersonDetails({ person }: { person: User }) {
  const { data: user } = useQuery(currentUserQuery);
  const [dialog, setDialog] = useState<Dialog>();
  const change = useUpdatePerson();
  const name = personName(person);
  // Staff accounts are not managed here.
  const canEdit = user?.admin === true && !person.staff;
  const isSelf = user?.id === person.id;
  return (
    <PageLayout
      title={name}
      actions={
        canEdit && (
          <Actions
            person={person}
            onDialog={setDialog}
            canBan={!isSelf}
            onReactivate={() =>
              change.mutate({ person, set: { reactivate: true }, message: messages.reactivated(name) })
            }
            onReinvite={() =>
              change.mutate({
                person,
                set: { reinvite: true },
                message: messages.invitationRenewed,
              })
            }
          />
        )
      }
      isFullWidth
    >
      <Columns
        label={commonMessages.details}
        aside={
          <PageSection title={commonMessages.details}>
            <PersonFacts person={person} />
            {typeof person.invite_url === 'string' && (
              <CopyableLink
                label={peopleMessages.invite.link}
                description={peopleMessages.invite.linkHint}
                link={person.invite_url}
              />
            )}
            {canEdit && !person.banned && (
              <Switch
                label={peopleMessages.invite.admin}
                description={peopleMessages.invite.adminHint}
                checked={person.admin === true}
                onChange={(event) => {
                  const admin = event.currentTarget.checked;
                  change.mutate({
                    person,
                    set: { admin },
                    message: admin ? messages.madeAdmin(name) : messages.removedAdmin(name),
                    revert: { admin: !admin },
                  });
                }}
              />
            )}
          </PageSection>
        }
      >
        <PersonAssessments person={person} canEdit={canEdit} />
      </Columns>
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
  const isInvited = typeof person.invite_url === 'string';
  return (
    <MoreMenu>
      <Menu.Item onClick={() => onDialog('rename')}>{messages.rename}</Menu.Item>
      {isInvited && <Menu.Item onClick={onReinvite}>{messages.newInvitation}</Menu.Item>}
      {canBan && !isInvited && (
        <Menu.Item component="a" href={`/account/people/${person.uid}/password-link`}>
          {messages.passwordReset}
        </Menu.Item>
      )}
      {canBan && (
        <Menu.Item color="red" onClick={() => onDialog('ban')}>
          Ban
        </Menu.Item>
      )}
    </MoreMenu>
  );
}

function PersonFacts({ person }: { person: User }) {
  const { email, organization_uid, staff, admin, last_seen_at, second_factor } = person;
  return (
    <DescriptionList>
      <DescriptionItem name={peopleMessages.invite.email}>
        {email.slice(0, email.lastIndexOf('@'))}
        <wbr />
        {email.slice(email.lastIndexOf('@'))}
      </DescriptionItem>
      <DescriptionItem name="State">
        <UserStateBadge person={person} />
      </DescriptionItem>
      <DescriptionItem name="Organization">
        {organization_uid === null ? 'None' : <OrganizationName uid={organization_uid} />}
      </DescriptionItem>
      <DescriptionItem name="Role">
        {staff ? peopleMessages.platformStaff : admin === true ? 'Admin' : 'User'}
      </DescriptionItem>
      {second_factor !== undefined && (
        <DescriptionItem name={peopleMessages.secondFactor}>
          {second_factor ? 'On' : peopleMessages.noSecondFactor}
        </DescriptionItem>
      )}
      {last_seen_at !== undefined && (
        <DescriptionItem name={peopleMessages.lastSeen}>
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
      title={messages.banTitle(personName(person))}
      submitLabel="Ban"
      isDestructive
      isPending={ban.isPending}
      error={errorText(ban.error)}
      onClose={onClose}
      onSubmit={() =>
        ban.mutate(person, { onSuccess: () => (isInvited ? void navigate({ to: '/people' }) : onClose()) })
      }
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {isInvited ? messages.banInvitedWarning : messages.banWarning}
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
      title={messages.rename}
      submitLabel="Save"
      isPending={change.isPending}
      error={errors.rest}
      onClose={onClose}
      onSubmit={() =>
        change.mutate(
          {
            person,
            set: { name },
            message: messages.renamed,
            ...(person.name === null ? {} : { revert: { name: person.name } }),
          },
          { onSuccess: onClose },
        )
      }
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={errors.messageFor('name')}
      />
    </FormDialog>
  );
}
