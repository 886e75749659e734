import { Anchor, Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { findAssessments } from '../../queries/assessments.ts';
import { useInvitePerson } from '../../queries/people.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { useApiForm } from '../../components/field-errors.ts';
import type { Option } from '../../components/filter-definition.ts';
import { SelectedPills } from '../../components/selected-pills.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { OrganizationSelect } from '../../components/organization-select.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { CopyableLink } from './copyable-link.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { peopleMessages } from './messages.ts';

const messages = peopleMessages.invite;

/** Invites a person and shows the invitation link (operation 54). */
export function InvitePersonDialog({ onClose }: { onClose: () => void }) {
  const { data: user } = useQuery(currentUserQuery);
  const invite = useInvitePerson();
  const { values, setValues, field, rest } = useApiForm(
    {
      email: '',
      name: '',
      admin: false,
      send_invite: true,
      organization_uid: null as string | null,
      assessments: [] as readonly Option[],
    },
    invite.error,
    'email',
  );
  if (invite.data !== undefined) return <InvitationDialog person={invite.data} onClose={onClose} />;
  const { name, organization_uid, assessments } = values;
  const organizationOf = user?.staff === true ? (organization_uid ?? undefined) : undefined;
  return (
    <FormDialog
      title={messages.title}
      submitLabel="Invite"
      isPending={invite.isPending}
      error={rest}
      onClose={onClose}
      onSubmit={() =>
        invite.mutate({
          email: values.email,
          ...(name.trim() === '' ? {} : { name }),
          admin: values.admin,
          send_invite: values.send_invite,
          assessments: assessments.map(({ value }) => value),
          ...(organization_uid === null ? {} : { organization_uid }),
        })
      }
    >
      <OrganizationSelect
        {...field('organization_uid')}
        onChange={(uid) => setValues({ organization_uid: uid, assessments: [] })}
      />
      <TextInput type="email" label={messages.email} required data-autofocus {...field('email')} />
      <TextInput label="Name" {...field('name')} />
      <Switch
        label={messages.admin}
        description={messages.adminHint}
        checked={values.admin}
        onChange={field('admin').onChange}
        error={field('admin').error}
      />
      {!values.admin && (
        <>
          <AsyncSelect
            label={messages.assessments}
            optionsKey={['assessments', organizationOf ?? '']}
            loadOptions={(search, signal) =>
              findAssessments(search, signal, { organizationUid: organizationOf })
            }
            value={null}
            clearsOnSelect
            disabled={user?.staff === true && organization_uid === null}
            onChange={(option) =>
              option !== null &&
              assessments.every(({ value }) => value !== option.value) &&
              setValues({ assessments: [...assessments, option] })
            }
            error={field('assessments').error}
          />
          <SelectedPills
            label={messages.selectedAssessments}
            selected={assessments}
            onRemove={(removed) =>
              setValues({ assessments: assessments.filter(({ value }) => value !== removed) })
            }
          />
        </>
      )}
      <Switch
        label={messages.byMail}
        description={messages.byMailHint}
        checked={values.send_invite}
        onChange={field('send_invite').onChange}
        error={field('send_invite').error}
      />
    </FormDialog>
  );
}

interface InvitationDialogProps {
  person: NonNullable<ReturnType<typeof useInvitePerson>['data']>;
  onClose: () => void;
}

/** Shows the link of a new invitation. */
function InvitationDialog({ person, onClose }: InvitationDialogProps) {
  return (
    <Dialog onClose={onClose} title={messages.done}>
      <Stack gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {fillSentence(messages.invited, {
            person: (
              <Anchor component={Link} to={`/people/${person.id}`} size="sm" onClick={onClose}>
                {person.email}
              </Anchor>
            ),
          })}
        </Text>
        <CopyableLink label={messages.link} description={messages.linkHint} link={person.invite_url ?? ''} />
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose}>
            Close
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
