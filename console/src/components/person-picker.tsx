import { Avatar, Group, Loader, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../queries/client.ts';
import { currentUser } from '../session/current-user.ts';
import classes from './person-picker.module.css';

export interface Person {
  id: number;
  name: string | null;
  email: string;
}

interface PersonPickerProps {
  label: string;
  /** `null` for nobody. */
  onPick: (person: Person | null) => void;
}

/** One person, oneself first, others by a search for those who may list them. */
export function PersonPicker({ label, onPick }: PersonPickerProps) {
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search, 120);
  const { data: who } = useQuery(currentUser);
  const { data = [], isFetching } = useQuery({
    queryKey: ['people', 'picked', wanted],
    queryFn: async ({ signal }): Promise<Person[]> =>
      (
        await api.GET('/v1/users', {
          params: { query: { 'filter[search]': wanted, 'page[size]': 10 } },
          signal,
        })
      ).data,
    placeholderData: keepPreviousData,
    enabled: who?.admin === true,
  });
  const people: Person[] = [
    ...(who === undefined ? [] : [{ id: who.id, name: who.name ?? null, email: who.email }]),
    ...data.filter(({ id }) => id !== who?.id),
  ];
  return (
    <Stack gap={4}>
      {who?.admin === true && (
        <TextInput
          label={label}
          placeholder="Name or address"
          data-autofocus
          value={search}
          rightSection={isFetching ? <Loader size={12} /> : undefined}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {people.map((person) => (
        <UnstyledButton key={person.id} className={classes.person} onClick={() => onPick(person)}>
          <Group gap="xs" wrap="nowrap">
            <Avatar size="sm" color="initials" name={person.name ?? person.email} />
            <Text size="sm" truncate="end">
              {person.name ?? person.email}
              {person.id === who?.id && ' (you)'}
            </Text>
          </Group>
        </UnstyledButton>
      ))}
      <UnstyledButton className={classes.person} onClick={() => onPick(null)}>
        <Text size="sm" c="dimmed">
          Nobody
        </Text>
      </UnstyledButton>
    </Stack>
  );
}
