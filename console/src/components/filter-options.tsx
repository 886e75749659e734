import { Checkbox, Loader, Pill, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FilterDefinition, FilterProps } from './filter-definition.ts';
import { Day } from './time.tsx';
import { DimmedText } from './dimmed-text.tsx';
import { commonMessages } from './messages.ts';
import { errorText } from './notifications.ts';

/** Labels of the selected values of a filter. */
export function SelectedNames({ filter, values }: Pick<FilterProps, 'filter' | 'values'>) {
  const { loadLabel } = filter;
  const { data } = useQuery({
    queryKey: ['filter-names', filter.name, values],
    queryFn: ({ signal }) =>
      Promise.all(values.slice(0, 3).map(async (value) => (await loadLabel?.(value, signal)) ?? value)),
    enabled: loadLabel !== undefined,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
  const labels = data ?? values.slice(0, 3).map((value) => optionLabel(filter, value));
  if (filter.options === 'day') return values.map((value) => <Day key={value} on={toDay(value)} />);
  return (
    <>
      {labels.join(', ')}
      {values.length > 3 && ` ${commonMessages.andMore(values.length - 3)}`}
    </>
  );
}

function optionLabel({ options }: FilterDefinition, value: string): string {
  return typeof options !== 'object'
    ? value
    : (options.find((option) => option.value === value)?.label ?? value);
}

/** The options of a filter, with a search if the server finds them. */
export function FilterOptions(props: FilterProps) {
  return props.filter.options === 'day' ? <DayInput {...props} /> : <OptionList {...props} />;
}

/** Applies the filter as soon as the date is complete. */
function DayInput({ filter, values, onChange }: FilterProps) {
  const [day, setDay] = useState(values[0] === undefined ? '' : toDay(values[0]));
  return (
    <TextInput
      type="date"
      size="xs"
      aria-label={filter.label}
      data-autofocus
      max="9999-12-31"
      value={day}
      onChange={(event) => {
        const next = event.currentTarget.value;
        setDay(next);
        if (/^[12]\d{3}-/.test(next)) onChange(filter.name, [next]);
      }}
    />
  );
}

/** @returns a date unchanged, or the local date of a time */
function toDay(value: string): string {
  if (!value.includes('T')) return value;
  const date = new Date(value);
  const digits = (number: number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
}

function OptionList({ filter, values, onChange }: FilterProps) {
  const [search, setSearch] = useState('');
  const [debouncedSearch] = useDebouncedValue(search, 120);
  const { options } = filter;
  const isSearched = typeof options === 'function';
  const { data, error, isFetching } = useQuery({
    queryKey: ['filter-options', filter.name, debouncedSearch],
    queryFn: ({ signal }) => (isSearched ? options(debouncedSearch, signal) : []),
    placeholderData: keepPreviousData,
    enabled: isSearched,
  });
  const shownOptions = isSearched ? (data ?? []) : options === 'day' ? [] : options;
  const toggle = (value: string) =>
    onChange(
      filter.name,
      values.includes(value) ? values.filter((selected) => selected !== value) : [...values, value],
    );
  return (
    <Stack gap={6}>
      {filter.description !== undefined && <DimmedText size="xs">{filter.description}</DimmedText>}
      {isSearched && (
        <TextInput
          size="xs"
          aria-label={commonMessages.filter.search(filter.label)}
          placeholder={filter.placeholder ?? commonMessages.typeToSearch}
          value={search}
          data-autofocus
          rightSection={isFetching ? <Loader size={12} /> : undefined}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {isSearched && values.length > 0 && (
        <Pill.Group>
          {values.map((value) => (
            <Pill key={value} withRemoveButton onRemove={() => toggle(value)}>
              <SelectedNames filter={filter} values={[value]} />
            </Pill>
          ))}
        </Pill.Group>
      )}
      <Stack gap={4} mah={260} style={{ overflowY: 'auto', overflowWrap: 'anywhere' }}>
        {shownOptions.map(({ value, label, content }) => (
          <Checkbox
            key={value}
            size="xs"
            label={content ?? label}
            checked={values.includes(value)}
            onChange={() => toggle(value)}
          />
        ))}
        {shownOptions.length === 0 && !isFetching && (
          <DimmedText size="xs">{errorText(error) ?? commonMessages.list.noResults}</DimmedText>
        )}
      </Stack>
    </Stack>
  );
}
