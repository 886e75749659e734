import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { organizations } from '../queries/organizations.ts';
import { currentUser } from '../session/current-user.ts';

interface OrganizationSelectProps {
  value: string | null;
  onChange: (uid: string | null) => void;
  error?: string | undefined;
}

/** For staff alone: the organization that something is created in. */
export function OrganizationSelect({ value, onChange, error }: OrganizationSelectProps) {
  const { data: who } = useQuery(currentUser);
  const isStaff = who?.staff === true;
  const { data = [] } = useQuery({ ...organizations, enabled: isStaff });
  if (!isStaff) return null;
  return (
    <Select
      label="Organization"
      required
      searchable
      placeholder="Type to search"
      data={data.map(({ uid, name }) => ({ value: uid, label: name }))}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}
