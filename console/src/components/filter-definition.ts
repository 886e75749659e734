import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { organizationsQuery } from '../queries/organizations.ts';
import { currentUserQuery } from '../session/permissions.ts';

/** An option of a filter or a select. */
export interface Option {
  value: string;
  label: string;
  /** Shown in a list of options instead of the label: a mark with the same word. */
  content?: ReactNode;
}

/** @returns options of values with their labels */
export const toOptions = <Value extends string>(
  labels: Readonly<Record<Value, string>>,
): { value: Value; label: string }[] =>
  Object.entries<string>(labels).map(([value, label]) => ({ value: value as Value, label }));

/** One filter of a list. */
export interface FilterDefinition {
  /** Query parameter: `status_id`. */
  name: string;
  /** "Status". */
  label: string;
  /** A fixed list, a search of the server, or a date. */
  options: readonly Option[] | ((search: string, signal: AbortSignal) => Promise<readonly Option[]>) | 'day';
  /** Explains the label. */
  description?: string;
  /** Loads the label of a selected value; by default the value itself. */
  loadLabel?: (value: string, signal: AbortSignal) => Promise<string>;
  /** Example of a search: "192.0.2.0/24". */
  placeholder?: string;
}

/** A filter with its selected values. */
export interface FilterProps {
  filter: FilterDefinition;
  values: readonly string[];
  onChange: (name: string, values: readonly string[]) => void;
}

/** The organization filter, which only staff have. */
export function useOrganizationFilter(): readonly FilterDefinition[] {
  const { data: user } = useQuery(currentUserQuery);
  const client = useQueryClient();
  if (user?.staff !== true) return [];
  const loadOptions = async () =>
    (await client.fetchQuery(organizationsQuery)).map(({ uid, name }) => ({ value: uid, label: name }));
  return [
    {
      name: 'organization_uid',
      label: 'Organization',
      options: async (search) =>
        (await loadOptions())
          .filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()))
          .slice(0, 20),
      loadLabel: async (value) =>
        (await loadOptions()).find((option) => option.value === value)?.label ?? value,
    },
  ];
}
