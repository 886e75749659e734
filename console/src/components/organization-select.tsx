import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { organizationsQuery } from '../queries/organizations.ts';
import { currentUserQuery } from '../session/permissions.ts';
import { commonMessages } from './messages.ts';

interface OrganizationSelectProps {
  value: string | null;
  onChange: (uid: string | null) => void;
  error?: string | undefined;
}

/** Selects the organization to create something in; renders nothing for non-staff. */
export function OrganizationSelect({ value, onChange, error }: OrganizationSelectProps) {
  const { data: user } = useQuery(currentUserQuery);
  const isStaff = user?.staff === true;
  const { data = [] } = useQuery({ ...organizationsQuery, enabled: isStaff });
  if (!isStaff) return null;
  return (
    <Select
      label="Organization"
      required
      searchable
      placeholder={commonMessages.typeToSearch}
      data={data.map(({ uid, name }) => ({ value: uid, label: name }))}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}
