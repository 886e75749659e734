import {
  ActionIcon,
  Button,
  Group,
  Menu,
  Popover,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconChevronLeft, IconPlus, IconSearch, IconX } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import classes from './filter-bar.module.css';
import { FilterOptions, SelectedNames } from './filter-options.tsx';
import type { FilterDefinition, FilterProps } from './filter-definition.ts';
import { commonMessages } from './messages.ts';

type FilterValues = Readonly<Record<string, readonly string[]>>;

interface FilterBarProps {
  filters: readonly FilterDefinition[];
  /** Selected values by filter name. */
  values: FilterValues;
  onChange: (name: string, values: readonly string[]) => void;
  /** The search text. */
  search?: string | undefined;
  onSearch?: (search: string) => void;
  searchLabel?: string;
  /** At the end of the line: views, export. */
  children?: ReactNode;
}

/** Search box and filter chips of a list. */
export function FilterBar({
  filters,
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
      {filters
        .filter(({ name }) => (values[name] ?? []).length > 0)
        .map((filter) => (
          <FilterChip
            key={filter.name}
            filter={filter}
            values={values[filter.name] ?? []}
            onChange={onChange}
          />
        ))}
      <AddFilter filters={filters} values={values} onChange={onChange} />
      {children}
    </Group>
  );
}

/** Milliseconds from the last keystroke to the search. */
const SEARCH_DEBOUNCE = 10;

function SearchBox({
  label,
  search,
  onSearch,
}: {
  label: string;
  search: string;
  onSearch: (search: string) => void;
}) {
  const [text, setText] = useState(search);
  const [debouncedText] = useDebouncedValue(text, SEARCH_DEBOUNCE);
  const inputRef = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (debouncedText !== search) onSearch(debouncedText);
    // Only typing starts a search; the next effect shows other changes of the URL.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [debouncedText]);
  useEffect(() => {
    // While the user types, the input is ahead of the URL and must not be reset.
    if (document.activeElement !== inputRef.current) setText(search);
  }, [search]);
  return (
    <TextInput
      ref={inputRef}
      type="search"
      size="xs"
      className={classes.search}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={text}
      maxLength={255}
      onChange={(event) => setText(event.currentTarget.value)}
    />
  );
}

function FilterChip({ filter, values, onChange }: FilterProps) {
  return (
    <div className={classes.chip}>
      <Popover position="bottom-start" width={260} trapFocus>
        <Popover.Target>
          <UnstyledButton className={classes.selected}>
            {/* The button is a flex container, which would drop the spaces. */}
            <span className={classes.values}>
              <span className={classes.name}>{filter.label}:</span>{' '}
              <SelectedNames filter={filter} values={values} />
            </span>
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown p="xs">
          <FilterOptions filter={filter} values={values} onChange={onChange} />
        </Popover.Dropdown>
      </Popover>
      <UnstyledButton
        className={classes.remove}
        aria-label={commonMessages.filter.remove(filter.label)}
        onClick={() => onChange(filter.name, [])}
      >
        <IconX size={14} aria-hidden />
      </UnstyledButton>
    </div>
  );
}

/** More filters than these have a search. */
const MAX_UNSEARCHED = 8;

function AddFilter({ filters, values, onChange }: Pick<FilterBarProps, 'filters' | 'values' | 'onChange'>) {
  const [opened, setOpened] = useState(false);
  const [search, setSearch] = useState('');
  const [selected, setSelected] = useState<FilterDefinition>();
  const changeOpened = (open: boolean) => {
    setOpened(open);
    if (!open) setSelected(undefined);
  };
  if (filters.length === 0) return null;
  const matches = filters.filter(({ label }) => label.toLowerCase().includes(search.trim().toLowerCase()));
  return (
    <Menu
      opened={opened}
      onChange={changeOpened}
      position="bottom-start"
      width={260}
      closeOnItemClick={false}
    >
      <Menu.Target>
        <Button size="xs" variant="subtle" color="gray" leftSection={<IconPlus size={16} aria-hidden />}>
          Filter
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={classes.kinds}>
        {selected === undefined && filters.length > MAX_UNSEARCHED && (
          <Menu.Search
            aria-label={commonMessages.filter.find}
            placeholder={commonMessages.filter.find}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        )}
        {selected === undefined &&
          matches.map((filter) => (
            <Menu.Item key={filter.name} onClick={() => setSelected(filter)}>
              {filter.label}
            </Menu.Item>
          ))}
        {selected !== undefined && (
          <Stack gap={6} p={4}>
            <Group gap={4}>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={commonMessages.filter.back}
                onClick={() => setSelected(undefined)}
              >
                <IconChevronLeft size={16} />
              </ActionIcon>
              <Text size="sm" fw={600}>
                {selected.label}
              </Text>
            </Group>
            <FilterOptions filter={selected} values={values[selected.name] ?? []} onChange={onChange} />
          </Stack>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
