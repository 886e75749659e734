import { Button, Group, Menu, Text, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronDown, IconChevronUp, IconDownload } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  AUDIT_EXPORT_FORMATS,
  type AuditFilter,
  exportAuditEvents,
  useAuditEvents,
} from '../../queries/audit.ts';
import { type AuditEvent, api } from '../../queries/client.ts';
import {
  filterValues,
  omitUndefined,
  type AuditSearch,
  type AuditSearchChange,
} from '../../app/search-params.ts';
import { useCurrentRow, useRowShortcuts } from '../../components/current-row.ts';
import { EmptyState, NoResults } from '../../components/empty-state.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { notify, notifyError } from '../../components/notifications.ts';
import { PageLayout } from '../../components/page.tsx';
import { IconAction } from '../../components/page-actions.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { type Column, StackedCell } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { AuditDetails } from './audit-details.tsx';
import { AuditSentence } from './audit-sentence.tsx';
import { auditMessages } from './messages.ts';
import type { FilterDefinition, Option } from '../../components/filter-definition.ts';
import { AUDIT_ACTIONS } from '../../queries/enums.ts';

const SENTENCE_COLUMN: Column<AuditEvent> = {
  id: 'event',
  header: 'Event',
  width: 'minmax(0, 1fr)',
  cell: (event) => <AuditSentence event={event} />,
};

const AUDIT_COLUMNS: readonly Column<AuditEvent>[] = [
  SENTENCE_COLUMN,
  { id: 'address', header: 'From', width: '140px', cell: ({ address }) => address },
  { id: 'at', header: 'When', width: '180px', cell: ({ at }) => <Time at={at} exact="seconds" /> },
];

const PHONE_COLUMNS: readonly Column<AuditEvent>[] = [
  {
    ...SENTENCE_COLUMN,
    cell: (event) => (
      <StackedCell
        secondary={
          <>
            <Time at={event.at} exact="seconds" /> {event.address}
          </>
        }
      >
        <AuditSentence event={event} />
      </StackedCell>
    ),
  },
];

/** A button that shows and hides the details of a row. */
const expanderColumn = (
  expanded: string | undefined,
  onExpand: (id: string | undefined) => void,
): Column<AuditEvent> => ({
  id: 'details',
  header: auditMessages.details,
  hidesHeader: true,
  width: '28px',
  cell({ id, action }) {
    const isExpanded = expanded === String(id);
    return (
      <IconAction
        label={auditMessages.detailsOf(action)}
        icon={isExpanded ? IconChevronUp : IconChevronDown}
        isExpanded={isExpanded}
        onClick={() => onExpand(isExpanded ? undefined : String(id))}
      />
    );
  },
});

/** The audit log; only for admins and staff. */
export function AuditPage() {
  const address = useSearch({ from: '/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const { data: user } = useQuery(currentUserQuery);
  const filter = toFilter(address);
  const changeSearch = (change: AuditSearchChange) =>
    void navigate({ search: (previous) => omitUndefined({ ...previous, ...change }), replace: true });
  if (user === undefined) return <PageLayout title="Audit log">{null}</PageLayout>;
  if (user.admin !== true)
    return (
      <PageLayout title="Audit log">
        <EmptyState title={auditMessages.adminsOnly}>{auditMessages.adminsOnlyHint}</EmptyState>
      </PageLayout>
    );
  return (
    <PageLayout
      title="Audit log"
      fillsHeight
      actions={<ExportMenu filter={filter} />}
      toolbar={<Toolbar search={address} onChange={changeSearch} />}
    >
      <Events
        // Resets the current row when the filter changes.
        key={JSON.stringify(filter)}
        filter={filter}
        onFilter={changeSearch}
        onReset={() => void navigate({ search: {} })}
      />
    </PageLayout>
  );
}

interface EventsProps {
  filter: AuditFilter;
  onFilter: (change: AuditSearchChange) => void;
  onReset: () => void;
}

function Events({ filter, onFilter, onReset }: EventsProps) {
  const isPhone = useMediaQuery('(max-width: 860px)', false, { getInitialValueInEffect: false });
  const list = useAuditEvents(filter);
  const rows = useCurrentRow(list);
  const [expanded, setExpanded] = useState<string>();
  const toggle = ({ id }: AuditEvent) => setExpanded(expanded === String(id) ? undefined : String(id));
  const columns = useMemo(
    () => [...(isPhone ? PHONE_COLUMNS : AUDIT_COLUMNS), expanderColumn(expanded, setExpanded)],
    [isPhone, expanded],
  );
  useRowShortcuts(rows, { itemName: 'event', open: { label: auditMessages.showChanges, run: toggle } });
  return (
    <DataTable
      label="Events"
      list={list}
      columns={columns}
      rowHeight={isPhone ? 92 : 52}
      hidesHead={isPhone}
      rowId={({ id }) => String(id)}
      rowName={({ action }) => action}
      current={rows.current}
      onCurrent={rows.setCurrent}
      onOpen={toggle}
      details={{ expanded, render: (event) => <AuditDetails event={event} onFilter={onFilter} /> }}
      empty={<NoResults onClear={onReset} />}
    />
  );
}

interface ToolbarProps {
  search: AuditSearch;
  onChange: (change: AuditSearchChange) => void;
}

function Toolbar({ search: address, onChange }: ToolbarProps) {
  return (
    <FilterBar
      filters={AUDIT_FILTERS}
      values={Object.fromEntries(AUDIT_FILTERS.map(({ name }) => [name, filterValues(address, name)]))}
      onChange={(name, next) => {
        // Only `action` accepts several values; of others, the last one wins.
        const last = next.at(-1);
        if (name === 'action') onChange({ action: next.length === 0 ? undefined : [...next] });
        else if (name === 'user_id') onChange({ user_id: last === undefined ? undefined : Number(last) });
        else onChange({ [name]: last });
      }}
    >
      <Group gap="xs">
        {(['since', 'until'] as const).map((name) => (
          <Group key={name} gap={6} wrap="nowrap">
            <Text component="label" htmlFor={`audit-${name}`} size="sm" c="dimmed">
              {name === 'since' ? 'From' : 'To'}
            </Text>
            <TextInput
              id={`audit-${name}`}
              type="date"
              size="xs"
              value={address[name] ?? ''}
              onChange={({ currentTarget: { value } }) =>
                onChange({ [name]: value === '' ? undefined : value })
              }
            />
          </Group>
        ))}
      </Group>
    </FilterBar>
  );
}

function ExportMenu({ filter }: { filter: AuditFilter }) {
  const saving = useMutation({
    mutationFn: (form: keyof typeof AUDIT_EXPORT_FORMATS) => exportAuditEvents(filter, form),
    onSuccess: (_, form) => notify(auditMessages.exported(AUDIT_EXPORT_FORMATS[form].name)),
    onError: (error) => notifyError(auditMessages.exportFailed, error),
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size="xs"
          variant="default"
          loading={saving.isPending}
          leftSection={<IconDownload size={14} aria-hidden />}
        >
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(['CSV', 'NDJSON'] as const).map((form) => (
          <Menu.Item key={form} onClick={() => saving.mutate(form)}>
            {auditMessages.exportAll(form)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Converts search parameters to a filter; days begin and end in the browser's time zone. */
function toFilter({ since, until, ...rest }: AuditSearch): AuditFilter {
  const midnight = (day: string, later: number) => {
    const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
    return new Date(year, month - 1, date + later).toISOString();
  };
  return {
    ...rest,
    since: since && midnight(since, 0),
    until: until && midnight(until, 1),
  };
}

const MAX_OPTIONS = 30;

const searchOptions = (all: readonly string[], search: string): Option[] =>
  all
    .filter((value) => value.includes(search.trim().toLowerCase()))
    .slice(0, MAX_OPTIONS)
    .map((value) => ({ value, label: value }));

/** Accepts any text as a value. */
const freeText = async (search: string): Promise<Option[]> =>
  search.trim() === '' ? [] : [{ value: search.trim(), label: search.trim() }];

const OBJECT_TYPES = [...new Set(AUDIT_ACTIONS.map((action) => action.slice(0, action.indexOf('.'))))];

const AUDIT_FILTERS: readonly FilterDefinition[] = [
  {
    name: 'action',
    label: 'Action',
    options: async (search) => {
      const options = searchOptions(AUDIT_ACTIONS, search);
      return options.length === 0 && /^[a-z-]+\.[a-z-]+$/.test(search) ? freeText(search) : options;
    },
  },
  {
    name: 'object_type',
    label: auditMessages.objectType,
    options: async (search) => searchOptions(OBJECT_TYPES, search),
  },
  { name: 'object_id', label: 'Object', options: freeText },
  {
    name: 'user_id',
    label: 'Person',
    async options(search, signal) {
      const { data } = await api.GET('/v1/users', {
        params: { query: { 'filter[search]': search, 'page[size]': MAX_OPTIONS } },
        signal,
      });
      return data.map(({ id, name, email }) => ({ value: String(id), label: name ?? email }));
    },
    async loadLabel(value, signal) {
      const { data } = await api.GET('/v1/users/{id}', { params: { path: { id: Number(value) } }, signal });
      return data.name ?? data.email;
    },
  },
  { name: 'request_id', label: 'Request', options: freeText },
];
