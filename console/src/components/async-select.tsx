import { Loader, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Option } from './filter-definition.ts';
import { commonMessages } from './messages.ts';
import { errorText } from './notifications.ts';

interface AsyncSelectProps<O extends Option> {
  label: string;
  /** Query key of the options; contains everything they depend on. */
  optionsKey: readonly unknown[];
  loadOptions: (search: string, signal: AbortSignal) => Promise<readonly O[]>;
  value: O | null;
  onChange: (value: O | null) => void;
  placeholder?: string;
  description?: string | undefined;
  error?: string | undefined;
  clearable?: boolean;
  required?: boolean;
  disabled?: boolean;
  /** Whether to clear the field after each selection. */
  clearsOnSelect?: boolean;
  /** Maximum width in pixels. */
  maw?: number;
  /** Whether it gets the focus when its dialog opens. */
  autoFocus?: boolean;
}

/** A select whose options the server searches. */
export function AsyncSelect<O extends Option>(props: AsyncSelectProps<O>) {
  const { label, optionsKey, loadOptions, value, onChange, clearsOnSelect = false } = props;
  const [searchText, setSearchText] = useState('');
  const [search] = useDebouncedValue(searchText === value?.label ? '' : searchText, 120);
  const {
    data = [],
    error,
    isFetching,
  } = useQuery({
    queryKey: ['choices', ...optionsKey, search],
    queryFn: ({ signal }) => loadOptions(search, signal),
    placeholderData: keepPreviousData,
    enabled: props.disabled !== true,
  });
  const options =
    value === null || data.some((option) => option.value === value.value) ? data : [value, ...data];
  return (
    <Select
      label={label}
      data={options.map(({ value: key, label: name }) => ({ value: key, label: name }))}
      value={value?.value ?? null}
      onChange={(key) => {
        onChange(options.find((option) => option.value === key) ?? null);
        if (clearsOnSelect) setSearchText('');
      }}
      {...(props.maw === undefined ? {} : { maw: props.maw })}
      data-autofocus={props.autoFocus === true || undefined}
      searchable
      searchValue={searchText}
      onSearchChange={setSearchText}
      filter={({ options: found }) => found}
      placeholder={props.placeholder ?? commonMessages.typeToSearch}
      description={props.description}
      error={props.error}
      clearable={props.clearable ?? false}
      required={props.required ?? false}
      disabled={props.disabled ?? false}
      rightSection={isFetching ? <Loader size={12} /> : undefined}
      nothingFoundMessage={isFetching ? 'Searching' : (errorText(error) ?? commonMessages.list.noResults)}
      comboboxProps={{ shadow: 'md' }}
    />
  );
}
