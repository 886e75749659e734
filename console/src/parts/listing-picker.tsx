import { Loader, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { searchListings } from '../api/assets.ts';

interface ListingPickerProps {
  label: string;
  description?: string;
  error?: ReactNode;
  /** The uid of the assessment. */
  value: string | null;
  onChange: (uid: string | null) => void;
  /** What stands in it while none is chosen. */
  placeholder?: string;
  required?: boolean;
}

/** One assessment, which is the listing of its assets, found by a search of the server. */
export function ListingPicker({
  label,
  value,
  onChange,
  placeholder = 'Type to search',
  ...rest
}: ListingPickerProps) {
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search, 120);
  const [name, setName] = useState('');
  const { data = [], isFetching } = useQuery({
    queryKey: ['listings', 'picked', wanted === name ? '' : wanted],
    queryFn: ({ signal }) => searchListings(wanted === name ? '' : wanted, signal),
    placeholderData: keepPreviousData,
  });
  const options = data.map(({ uid, name: label }) => ({ value: uid, label }));
  if (value !== null && options.every((option) => option.value !== value))
    options.push({ value, label: name === '' ? value : name });
  return (
    <Select
      {...rest}
      label={label}
      placeholder={placeholder}
      data={options}
      value={value}
      searchable
      clearable
      // The server searched already.
      filter={({ options: found }) => found}
      searchValue={search}
      onSearchChange={setSearch}
      nothingFoundMessage="Nothing found."
      rightSection={isFetching ? <Loader size={12} /> : undefined}
      onChange={(uid, option) => {
        setName(option?.label ?? '');
        onChange(uid);
      }}
    />
  );
}
