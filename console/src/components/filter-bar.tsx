import { ActionIcon, Button, Group, Menu, Popover, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconChevronLeft, IconPlus, IconSearch, IconX } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import classes from './filter-bar.module.css';
import { FilterOptions, SelectedNames } from './filter-options.tsx';
import type { FilterDefinition, FilterProps } from './filter-definition.ts';

type FilterValues = Readonly<Record<string, readonly string[]>>;

interface FilterBarProps {
  filters: readonly FilterDefinition[];
  /** What is chosen of each kind. */
  values: FilterValues;
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
  filters: kinds,
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
          <FilterChip key={kind.name} filter={kind} values={values[kind.name] ?? []} onChange={onChange} />
        ))}
      <AddFilter filters={kinds} values={values} onChange={onChange} />
      {children}
    </Group>
  );
}

/** Milliseconds without another letter, after which the words are searched. */
const SEARCH_DEBOUNCE = 30;

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
  const [settled] = useDebouncedValue(typed, SEARCH_DEBOUNCE);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (settled !== search) onSearch(settled);
    // Only what is typed searches; an address that changes otherwise is shown by the next effect.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled]);
  useEffect(() => {
    // Who types is ahead of the address: letters that were typed since must stay.
    if (document.activeElement !== box.current) setTyped(search);
  }, [search]);
  return (
    <TextInput
      ref={box}
      id="search"
      type="search"
      size="xs"
      className={classes.search}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={14} aria-hidden />}
      value={typed}
      maxLength={255}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}

function FilterChip({ filter: kind, values, onChange }: FilterProps) {
  return (
    <Group gap={0} wrap="nowrap" className={classes.chip}>
      <Popover position="bottom-start" width={260} trapFocus>
        <Popover.Target>
          <Button size="compact-sm" variant="light" className={classes.chosen}>
            {/* The button lays its parts side by side, and with no room between them. */}
            <span>
              {kind.label}: <SelectedNames filter={kind} values={values} />
            </span>
          </Button>
        </Popover.Target>
        <Popover.Dropdown p="xs">
          <FilterOptions filter={kind} values={values} onChange={onChange} />
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

function AddFilter({
  filters: kinds,
  values,
  onChange,
}: Pick<FilterBarProps, 'filters' | 'values' | 'onChange'>) {
  const [opened, setOpened] = useState(false);
  const [kind, setKind] = useState<FilterDefinition>();
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
      <Menu.Dropdown className={classes.kinds}>
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
            <FilterOptions filter={kind} values={values[kind.name] ?? []} onChange={onChange} />
          </Stack>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
