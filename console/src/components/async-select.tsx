import { Loader, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Option } from './filter-definition.ts';

interface AsyncSelectProps<O extends Option> {
  label: string;
  /** Names the choices among what is remembered, with all that they depend on. */
  optionsKey: readonly unknown[];
  /** Asks the server for what can be chosen. */
  loadOptions: (search: string, signal: AbortSignal) => Promise<readonly O[]>;
  value: O | null;
  onChange: (value: O | null) => void;
  placeholder?: string;
  description?: string | undefined;
  error?: string | undefined;
  clearable?: boolean;
  required?: boolean;
  disabled?: boolean;
  /** Whether the field is emptied once something is chosen, for the next one. */
  clearsOnSelect?: boolean;
  /** The most that it takes of the width, in pixels. */
  maw?: number;
  /** Whether the dialog that it stands in begins with it. */
  autoFocus?: boolean;
}

/** One of many, found by typing. */
export function AsyncSelect<O extends Option>(props: AsyncSelectProps<O>) {
  const { label, optionsKey, loadOptions, value, onChange, clearsOnSelect = false } = props;
  const [typed, setTyped] = useState('');
  const [wanted] = useDebouncedValue(typed === value?.label ? '' : typed, 120);
  const { data = [], isFetching } = useQuery({
    queryKey: ['choices', ...optionsKey, wanted],
    queryFn: ({ signal }) => loadOptions(wanted, signal),
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
        if (clearsOnSelect) setTyped('');
      }}
      {...(props.maw === undefined ? {} : { maw: props.maw })}
      data-autofocus={props.autoFocus === true || undefined}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options: found }) => found}
      placeholder={props.placeholder ?? 'Type to search'}
      description={props.description}
      error={props.error}
      clearable={props.clearable ?? false}
      required={props.required ?? false}
      disabled={props.disabled ?? false}
      rightSection={isFetching ? <Loader size={12} /> : undefined}
      nothingFoundMessage={isFetching ? 'Searching' : 'Nothing found.'}
      comboboxProps={{ shadow: 'md' }}
    />
  );
}
