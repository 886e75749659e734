import { PersonMark } from './identity-marks.tsx';
import { Loader, Stack, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../queries/client.ts';
import { currentUserQuery } from '../session/permissions.ts';
import classes from './person-picker.module.css';
import { commonMessages } from './messages.ts';

export interface Person {
  id: number;
  name: string | null;
  email: string;
}

interface PersonPickerProps {
  label: string;
  /** Receives `null` for "Unassigned". */
  onPick: (person: Person | null) => void;
}

/** Selects a person: the current user first; admins can search for others. */
export function PersonPicker({ label, onPick }: PersonPickerProps) {
  const messages = commonMessages.person;
  const [search, setSearch] = useState('');
  const [debouncedSearch] = useDebouncedValue(search, 120);
  const { data: user } = useQuery(currentUserQuery);
  const { data = [], isFetching } = useQuery({
    queryKey: ['people', 'picked', debouncedSearch],
    queryFn: async ({ signal }): Promise<Person[]> =>
      (
        await api.GET('/v1/users', {
          params: { query: { 'filter[search]': debouncedSearch, 'page[size]': 10 } },
          signal,
        })
      ).data,
    placeholderData: keepPreviousData,
    enabled: user?.admin === true,
  });
  const people: Person[] = [
    ...(user === undefined ? [] : [{ id: user.id, name: user.name ?? null, email: user.email }]),
    ...data.filter(({ id }) => id !== user?.id),
  ];
  return (
    <Stack gap={4}>
      {user?.admin === true && (
        <TextInput
          label={label}
          placeholder={messages.nameOrAddress}
          data-autofocus
          value={search}
          rightSection={isFetching ? <Loader size={12} /> : undefined}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {people.map((person) => (
        <UnstyledButton key={person.id} className={classes.person} onClick={() => onPick(person)}>
          <PersonMark person={person} withLabel isReader={person.id === user?.id} />
        </UnstyledButton>
      ))}
      <UnstyledButton className={classes.person} onClick={() => onPick(null)}>
        <PersonMark person={null} withLabel />
      </UnstyledButton>
    </Stack>
  );
}
