import { Checkbox, Loader, Pill, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FilterDefinition, FilterProps } from './filter-definition.ts';
import { Day } from './time.tsx';

/** How what is chosen of a filter is called. */
export function SelectedNames({ filter: kind, values }: Pick<FilterProps, 'filter' | 'values'>) {
  const { loadLabel } = kind;
  const { data } = useQuery({
    queryKey: ['filter-names', kind.name, values],
    queryFn: ({ signal }) =>
      Promise.all(values.slice(0, 3).map(async (value) => (await loadLabel?.(value, signal)) ?? value)),
    // What can be chosen may be read after the chip is there.
    enabled: loadLabel !== undefined,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
  const names = data ?? values.slice(0, 3).map((value) => optionLabel(kind, value));
  if (kind.options === 'day') return values.map((value) => <Day key={value} on={toDay(value)} />);
  return (
    <>
      {names.join(', ')}
      {values.length > 3 && ` and ${values.length - 3} more`}
    </>
  );
}

function optionLabel({ options }: FilterDefinition, value: string): string {
  return typeof options !== 'object'
    ? value
    : (options.find((option) => option.value === value)?.label ?? value);
}

/** What can be chosen, searched where there may be many. */
export function FilterOptions(props: FilterProps) {
  return props.filter.options === 'day' ? <DayInput {...props} /> : <OptionList {...props} />;
}

/** One day, which filters as soon as it is whole. */
function DayInput({ filter: kind, values, onChange }: FilterProps) {
  const [day, setDay] = useState(values[0] === undefined ? '' : toDay(values[0]));
  return (
    <TextInput
      type="date"
      size="xs"
      aria-label={kind.label}
      data-autofocus
      max="9999-12-31"
      value={day}
      onChange={(event) => {
        const next = event.currentTarget.value;
        setDay(next);
        if (/^[12]\d{3}-/.test(next)) onChange(kind.name, [next]);
      }}
    />
  );
}

/** @returns the day of a day or of a time, in the zone of who reads it */
function toDay(value: string): string {
  if (!value.includes('T')) return value;
  const at = new Date(value);
  const digits = (number: number) => String(number).padStart(2, '0');
  return `${at.getFullYear()}-${digits(at.getMonth() + 1)}-${digits(at.getDate())}`;
}

function OptionList({ filter: kind, values, onChange }: FilterProps) {
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search, 120);
  const { options } = kind;
  const isSearched = typeof options === 'function';
  const { data, isFetching } = useQuery({
    queryKey: ['filter-options', kind.name, wanted],
    queryFn: ({ signal }) => (isSearched ? options(wanted, signal) : []),
    placeholderData: keepPreviousData,
    enabled: isSearched,
  });
  const found = isSearched ? (data ?? []) : options === 'day' ? [] : options;
  const toggle = (value: string) =>
    onChange(
      kind.name,
      values.includes(value) ? values.filter((other) => other !== value) : [...values, value],
    );
  return (
    <Stack gap={6}>
      {kind.description !== undefined && (
        <Text size="xs" c="dimmed">
          {kind.description}
        </Text>
      )}
      {isSearched && (
        <TextInput
          size="xs"
          aria-label={`Search ${kind.label.toLowerCase()}`}
          placeholder={kind.placeholder ?? 'Type to search'}
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
              <SelectedNames filter={kind} values={[value]} />
            </Pill>
          ))}
        </Pill.Group>
      )}
      <Stack gap={4} mah={260} style={{ overflowY: 'auto', overflowWrap: 'anywhere' }}>
        {found.map(({ value, label }) => (
          <Checkbox
            key={value}
            size="xs"
            label={label}
            checked={values.includes(value)}
            onChange={() => toggle(value)}
          />
        ))}
        {found.length === 0 && !isFetching && (
          <Text size="xs" c="dimmed">
            Nothing found.
          </Text>
        )}
      </Stack>
    </Stack>
  );
}
