import { Button, Group, Menu, Text, TextInput } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { AUDIT_FILES, type AuditFilter, saveAuditEvents, useAuditEvents } from '../../queries/audit.ts';
import type { AuditEvent } from '../../queries/client.ts';
import { useCurrentRow, useRowKeys } from '../../components/current-row.ts';
import { Empty, NoneMatch } from '../../components/empty-state.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { tell, tellError } from '../../components/notifications.tsx';
import { Place } from '../../components/page.tsx';
import { RowsTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { TwoLines } from '../../components/stacked-cell.tsx';
import { Time } from '../../components/time.tsx';
import { whoAmI } from '../../session/current-user.ts';
import { AuditDetails } from './audit-details.tsx';
import { ObjectOfEvent } from './audit-object-link.tsx';
import { actorText } from './audit-event-text.ts';
import { FILTER_KINDS } from './filters.ts';
import type { AuditAddress, AuditChange } from './search.ts';

const COLUMNS: readonly Column<AuditEvent>[] = [
  {
    id: 'at',
    header: 'When',
    width: '196px',
    cell: ({ at }) => <Time at={at} exact />,
    narrow: { width: '116px', cell: ({ at }) => <Time at={at} /> },
  },
  {
    id: 'action',
    header: 'Action',
    width: 'minmax(120px, 1fr)',
    cell: ({ action }) => action,
    narrow: {
      cell: ({ action, actor }) => <TwoLines second={<bdi>{actorText(actor)}</bdi>}>{action}</TwoLines>,
    },
  },
  {
    id: 'object',
    header: 'Object',
    width: 'minmax(120px, 1.6fr)',
    from: 640,
    cell: (event) => <ObjectOfEvent event={event} />,
  },
  {
    id: 'actor',
    header: 'By',
    width: 'minmax(120px, 1fr)',
    from: 460,
    cell: ({ actor }) => <span title={actorText(actor)}>{actorText(actor)}</span>,
  },
  { id: 'address', header: 'From', width: '140px', from: 900, cell: ({ address }) => address },
];

/** Who changed what, and when. */
export function Audit() {
  const address = useSearch({ from: '/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const { data: who } = useQuery(whoAmI);
  const [opened, setOpened] = useState<AuditEvent>();
  const filter = filterOf(address);
  const go = (change: AuditChange) => {
    setOpened(undefined);
    void navigate({ search: (now) => without({ ...now, ...change }), replace: true });
  };
  if (who === undefined) return <Place title="Audit">{null}</Place>;
  if (who.admin !== true)
    return (
      <Place title="Audit">
        <Empty title="The audit log is for admins">
          Ask an admin of your organization what you want to know.
        </Empty>
      </Place>
    );
  return (
    <Place
      title="Audit"
      fills
      actions={<Export filter={filter} />}
      tools={<Tools address={address} onChange={go} />}
    >
      <Events
        // Another filter begins at no row.
        key={JSON.stringify(filter)}
        filter={filter}
        onOpen={setOpened}
        onReset={() => void navigate({ search: {} })}
      />
      {opened !== undefined && (
        <AuditDetails event={opened} onFilter={go} onClose={() => setOpened(undefined)} />
      )}
    </Place>
  );
}

interface EventsProps {
  filter: AuditFilter;
  onOpen: (event: AuditEvent) => void;
  onReset: () => void;
}

function Events({ filter, onOpen, onReset }: EventsProps) {
  const list = useAuditEvents(filter);
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  useRowKeys(rows, { noun: 'event', open: { label: 'Show what changed', run: onOpen } });
  return (
    <RowsTable
      label="Events"
      list={list}
      columns={COLUMNS}
      rowId={({ id }) => String(id)}
      rowName={({ action }) => action}
      current={current}
      onCurrent={setCurrent}
      onOpen={onOpen}
      empty={<NoneMatch onClear={onReset} />}
    />
  );
}

interface ToolsProps {
  address: AuditAddress;
  onChange: (change: AuditChange) => void;
}

function Tools({ address, onChange }: ToolsProps) {
  const values = Object.fromEntries(
    FILTER_KINDS.map(({ name }) => [name, [address[name as keyof AuditAddress] ?? []].flat().map(String)]),
  );
  return (
    <FilterBar
      kinds={FILTER_KINDS}
      values={values}
      onChange={(name, next) => {
        // Of actions the API takes many, of all else one: the last that was chosen.
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

function Export({ filter }: { filter: AuditFilter }) {
  const saving = useMutation({
    mutationFn: (form: keyof typeof AUDIT_FILES) => saveAuditEvents(filter, form),
    onSuccess: (_, form) => tell(`The events were saved as ${AUDIT_FILES[form].name}, the oldest first.`),
    onError: (error) => tellError('The events could not be saved', error),
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size="compact-sm"
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
            All that match, as {form}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** @returns the filter of the API: a day begins and ends in the reader's zone */
function filterOf({ since, until, ...rest }: AuditAddress): AuditFilter {
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

/** @returns the members that are there */
function without(address: AuditChange): AuditAddress {
  return Object.fromEntries(Object.entries(address).filter(([, value]) => value !== undefined));
}
