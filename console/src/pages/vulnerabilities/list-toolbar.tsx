import { Button, Group, Menu, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { Format } from '../../queries/export-vulnerabilities.ts';
import { ColumnsMenu } from '../../components/columns-menu.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { ViewsMenu } from '../../components/views-menu.tsx';
import { COLUMNS } from './columns.tsx';
import { useFilterKinds } from './filters.ts';
import { type AddressChange, filterOf, type ListAddress, searchOf, valuesOf } from './search-params.ts';
import type { TriageKind } from './edit-dialogs.tsx';
import classes from './vulnerability-list.module.css';

const ExportDialog = lazy(() => import('./export-dialog.tsx'));
const ChangeAll = lazy(() => import('./bulk-edit-all.tsx'));

interface ListToolsProps {
  /** Filters, order and columns. */
  address: Omit<ListAddress, 'open'>;
  /** How many are found; `undefined` until they are counted. */
  total: number | undefined;
  onFilter: (change: AddressChange) => void;
  /** Puts another address in place of the whole. */
  onAddress: (address: ListAddress) => void;
}

/** Search, filters, views, columns and export of the vulnerabilities, and a change of all that are found. */
export function ListTools({ address, total, onFilter, onAddress }: ListToolsProps) {
  const kinds = useFilterKinds();
  const [format, setFormat] = useState<Format>();
  /** How many are to be changed. */
  const [changing, setChanging] = useState<number>();
  const { columns, sort: _, ...filter } = address;
  return (
    <>
      <FilterBar
        kinds={kinds}
        values={Object.fromEntries(kinds.map(({ name }) => [name, valuesOf(address, name)]))}
        onChange={(name, values) => onFilter(filterOf(name, values))}
        search={address.search}
        searchLabel="Search titles and texts"
        onSearch={(words) => onFilter({ search: words === '' ? undefined : words })}
      >
        <div className={classes.views}>
          <ViewsMenu
            place="vulnerabilities"
            search={address}
            onApply={(search) => onAddress(searchOf(search))}
          />
          <ColumnsMenu
            columns={COLUMNS}
            asked={columns}
            fixed="title"
            onChange={(asked) => onAddress({ ...address, columns: asked && [...asked] } as ListAddress)}
          />
          <Menu position="bottom-end">
            <Menu.Target>
              <Button
                size="compact-sm"
                variant="default"
                radius="xl"
                leftSection={<IconDownload size={14} aria-hidden />}
              >
                Export
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setFormat('csv')}>CSV, for spreadsheets</Menu.Item>
              <Menu.Item onClick={() => setFormat('ndjson')}>NDJSON, for programs</Menu.Item>
            </Menu.Dropdown>
          </Menu>
          <Button
            size="compact-sm"
            variant="default"
            radius="xl"
            // What is told to the server is how many somebody has seen.
            disabled={total === undefined || total === 0}
            onClick={() => setChanging(total)}
          >
            Change all
          </Button>
        </div>
      </FilterBar>
      <Suspense>
        {format !== undefined && (
          <ExportDialog format={format} search={filter} total={total} onClose={() => setFormat(undefined)} />
        )}
        {changing !== undefined && (
          <ChangeAll filter={filter} total={changing} onClose={() => setChanging(undefined)} />
        )}
      </Suspense>
    </>
  );
}

interface ChosenToolsProps {
  count: number;
  onTriage: (kind: TriageKind) => void;
  onNone: () => void;
}

/** What can be done with those that are chosen. */
export function ChosenTools({ count, onTriage, onNone }: ChosenToolsProps) {
  return (
    <Group gap="xs" className={classes.chosen}>
      <Text size="sm" fw={600} role="status">
        {count.toLocaleString()} chosen
      </Text>
      {(['status', 'severity', 'tags', 'assignee', 'comment'] as const).map((kind) => (
        <Button key={kind} size="compact-sm" variant="light" onClick={() => onTriage(kind)}>
          {kind[0]?.toUpperCase() + kind.slice(1)}
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={onNone}>
        Choose none
      </Button>
    </Group>
  );
}
