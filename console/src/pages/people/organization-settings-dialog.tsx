import { Radio, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Organization } from '../../../../client/src/openapi-types.ts';
import { useApiForm } from '../../components/field-errors.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { OrganizationSelect } from '../../components/organization-select.tsx';
import { organizationsQuery, useUpdateOrganization } from '../../queries/organizations.ts';
import { peopleMessages } from './messages.ts';

const messages = peopleMessages.organization;
type DismissalRole = NonNullable<Organization['dismissal_role']>;
const DISMISSAL_ROLES = ['assessment_member', 'assessment_operator', 'admin'] as const;

/** Changes who may dismiss findings of an organization (operation 64); for admins and staff. */
export function OrganizationSettingsDialog({ onClose }: { onClose: () => void }) {
  const { data: organizations } = useQuery(organizationsQuery);
  return organizations === undefined ? null : <Form organizations={organizations} onClose={onClose} />;
}

function Form({ organizations, onClose }: { organizations: readonly Organization[]; onClose: () => void }) {
  const update = useUpdateOrganization();
  const [only] = organizations.length === 1 ? organizations : [];
  const roleOf = (uid: string | null) =>
    (organizations.find((organization) => organization.uid === uid)?.dismissal_role ??
      null) as DismissalRole | null;
  const { values, setValues, field, rest } = useApiForm(
    { organization_uid: only?.uid ?? null, dismissal_role: roleOf(only?.uid ?? null) },
    update.error,
  );
  const { organization_uid: uid, dismissal_role: role } = values;
  return (
    <FormDialog
      title={messages.title}
      submitLabel="Save"
      isPending={update.isPending}
      error={rest}
      onClose={onClose}
      onSubmit={() =>
        uid !== null &&
        role !== null &&
        update.mutate({ uid, set: { dismissal_role: role } }, { onSuccess: onClose })
      }
    >
      <OrganizationSelect
        {...field('organization_uid')}
        onChange={(selected) => setValues({ organization_uid: selected, dismissal_role: roleOf(selected) })}
      />
      <Radio.Group
        label={messages.dismissal}
        description={messages.dismissalHint}
        value={role}
        onChange={(selected) => setValues({ dismissal_role: selected as DismissalRole })}
        error={field('dismissal_role').error}
      >
        <Stack gap="xs" mt="xs">
          {DISMISSAL_ROLES.map((value) => (
            <Radio key={value} value={value} label={messages.dismissalRoles[value]} disabled={uid === null} />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
}
