import { useQuery } from '@tanstack/react-query';
import { organizationsQuery } from '../queries/organizations.ts';
import { currentUser } from '../session/current-user.ts';
import type { FilterDefinition } from './filter-definition.ts';

/** The organization filter, which only staff have. */
export function useOrganizationFilter(): readonly FilterDefinition[] {
  const { data: user } = useQuery(currentUser);
  const isStaff = user?.staff === true;
  const { data = [] } = useQuery({ ...organizationsQuery, enabled: isStaff });
  if (!isStaff) return [];
  const options = data.map(({ uid, name }) => ({ value: uid, label: name }));
  return [
    {
      name: 'organization_uid',
      label: 'Organization',
      options: (search) =>
        Promise.resolve(
          options.filter(({ label }) => label.toLowerCase().includes(search.toLowerCase())).slice(0, 20),
        ),
      loadLabel: (value) => Promise.resolve(options.find((option) => option.value === value)?.label ?? value),
    },
  ];
}
