import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Loader,
  Menu,
  Pill,
  Popover,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconChevronLeft, IconPlus, IconSearch, IconX } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import classes from './filter-bar.module.css';

/** Something that can be chosen in a filter. */
export interface Option {
  value: string;
  label: string;
}

/** One filter of a list. */
export interface FilterKind {
  /** Of the address: `status_id`. */
  name: string;
  /** In words: "Status". */
  label: string;
  /** What can be chosen: a few that are known, or what a search of the server finds. */
  options: readonly Option[] | ((search: string, signal: AbortSignal) => Promise<readonly Option[]>);
  /** @returns how a chosen value is called, where the options have not been read; the value unless told */
  nameOf?: (value: string, signal: AbortSignal) => Promise<string>;
  /** What can be typed, where that is no part of a name: "192.0.2.0/24". */
  hint?: string;
}

type Values = Readonly<Record<string, readonly string[]>>;

interface FilterBarProps {
  kinds: readonly FilterKind[];
  /** What is chosen of each kind. */
  values: Values;
  onChange: (name: string, values: readonly string[]) => void;
  /** The words that are searched for; absent where nothing is searched. */
  search?: string | undefined;
  onSearch?: (search: string) => void;
  searchLabel?: string;
  /** At the end of the line: saved views, export. */
  children?: ReactNode;
}

/** Search and filters of a list, the filters as chips. */
export function FilterBar({
  kinds,
  values,
  onChange,
  search,
  onSearch,
  searchLabel = 'Search',
  children,
}: FilterBarProps) {
  return (
    <Group gap="xs" wrap="wrap">
      {onSearch !== undefined && <SearchBox label={searchLabel} search={search ?? ''} onSearch={onSearch} />}
      {kinds
        .filter(({ name }) => (values[name] ?? []).length > 0)
        .map((kind) => (
          <Chip key={kind.name} kind={kind} values={values[kind.name] ?? []} onChange={onChange} />
        ))}
      <AddFilter kinds={kinds} values={values} onChange={onChange} />
      {children}
    </Group>
  );
}

function SearchBox({
  label,
  search,
  onSearch,
}: {
  label: string;
  search: string;
  onSearch: (search: string) => void;
}) {
  const [typed, setTyped] = useState(search);
  const [settled] = useDebouncedValue(typed, 60);
  useEffect(() => {
    if (settled !== search) onSearch(settled);
    // Only what is typed searches; an address that changes otherwise is shown by the next effect.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled]);
  useEffect(() => setTyped(search), [search]);
  return (
    <TextInput
      id="search"
      type="search"
      size="xs"
      w={240}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={14} aria-hidden />}
      value={typed}
      maxLength={255}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}

interface KindProps {
  kind: FilterKind;
  values: readonly string[];
  onChange: FilterBarProps['onChange'];
}

function Chip({ kind, values, onChange }: KindProps) {
  return (
    <Group gap={0} wrap="nowrap" className={classes.chip}>
      <Popover position="bottom-start" width={260} trapFocus>
        <Popover.Target>
          <Button size="compact-sm" variant="light" className={classes.chosen}>
            {kind.label}: <ChosenNames kind={kind} values={values} />
          </Button>
        </Popover.Target>
        <Popover.Dropdown p="xs">
          <Choices kind={kind} values={values} onChange={onChange} />
        </Popover.Dropdown>
      </Popover>
      <ActionIcon
        className={classes.remove}
        variant="light"
        aria-label={`Remove the filter ${kind.label}`}
        onClick={() => onChange(kind.name, [])}
      >
        <IconX size={12} aria-hidden />
      </ActionIcon>
    </Group>
  );
}

function ChosenNames({ kind, values }: Pick<KindProps, 'kind' | 'values'>) {
  const { data } = useQuery({
    queryKey: ['filter-names', kind.name, values],
    queryFn: ({ signal }) =>
      Promise.all(
        values.slice(0, 3).map(async (value) => kind.nameOf?.(value, signal) ?? labelOf(kind, value)),
      ),
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
  const names = data ?? values.slice(0, 3);
  return (
    <>
      {names.join(', ')}
      {values.length > 3 && ` and ${values.length - 3} more`}
    </>
  );
}

function labelOf({ options }: FilterKind, value: string): string {
  return typeof options === 'function'
    ? value
    : (options.find((option) => option.value === value)?.label ?? value);
}

function AddFilter({ kinds, values, onChange }: Pick<FilterBarProps, 'kinds' | 'values' | 'onChange'>) {
  const [opened, setOpened] = useState(false);
  const [kind, setKind] = useState<FilterKind>();
  const close = (open: boolean) => {
    setOpened(open);
    if (!open) setKind(undefined);
  };
  if (kinds.length === 0) return null;
  return (
    <Menu opened={opened} onChange={close} position="bottom-start" width={260} closeOnItemClick={false}>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="default"
          radius="xl"
          leftSection={<IconPlus size={14} aria-hidden />}
        >
          Filter
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {kind === undefined
          ? kinds.map((each) => (
              <Menu.Item key={each.name} onClick={() => setKind(each)}>
                {each.label}
              </Menu.Item>
            ))
          : null}
        {kind !== undefined && (
          <Stack gap={6} p={4}>
            <Group gap={4}>
              <ActionIcon
                variant="subtle"
                size="sm"
                aria-label="Other filters"
                onClick={() => setKind(undefined)}
              >
                <IconChevronLeft size={14} />
              </ActionIcon>
              <Text size="sm" fw={600}>
                {kind.label}
              </Text>
            </Group>
            <Choices kind={kind} values={values[kind.name] ?? []} onChange={onChange} />
          </Stack>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** What can be chosen, searched where there may be many. */
function Choices({ kind, values, onChange }: KindProps) {
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search, 120);
  const { options } = kind;
  const isSearched = typeof options === 'function';
  const { data, isFetching } = useQuery({
    queryKey: ['filter-options', kind.name, wanted],
    queryFn: ({ signal }) => (isSearched ? options(wanted, signal) : options),
    placeholderData: keepPreviousData,
    enabled: isSearched,
  });
  const found = isSearched ? (data ?? []) : options;
  const toggle = (value: string) =>
    onChange(
      kind.name,
      values.includes(value) ? values.filter((other) => other !== value) : [...values, value],
    );
  return (
    <Stack gap={6}>
      {isSearched && (
        <TextInput
          size="xs"
          aria-label={`Search ${kind.label.toLowerCase()}`}
          placeholder={kind.hint ?? 'Type to search'}
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
              <ChosenNames kind={kind} values={[value]} />
            </Pill>
          ))}
        </Pill.Group>
      )}
      <Stack gap={4} mah={260} style={{ overflowY: 'auto' }}>
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
