import { Button, Group, Menu, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { ExportFormat } from '../../queries/export-vulnerabilities.ts';
import { ColumnsMenu } from '../../components/columns-menu.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { ViewsMenu } from '../../components/views-menu.tsx';
import { VULNERABILITY_TABLE_COLUMNS } from './columns.tsx';
import { useVulnerabilityFilters } from './filters.ts';
import {
  type VulnerabilityListParamsChange,
  toFilterParam,
  type VulnerabilityListParams,
  parseVulnerabilityListParams,
  filterValues,
} from './search-params.ts';
import type { EditKind } from './edit-dialogs.tsx';
import classes from './vulnerability-list.module.css';

const ExportDialog = lazy(() => import('./export-dialog.tsx'));
const ChangeAll = lazy(() => import('./bulk-edit-all.tsx'));

interface ListToolbarProps {
  /** Filters, order and columns. */
  params: Omit<VulnerabilityListParams, 'open'>;
  /** How many are found; `undefined` until they are counted. */
  total: number | undefined;
  onFilter: (change: VulnerabilityListParamsChange) => void;
  /** Puts another address in place of the whole. */
  onParams: (address: VulnerabilityListParams) => void;
}

/** Search, filters, views, columns and export of the vulnerabilities, and a change of all that are found. */
export function ListToolbar({ params: address, total, onFilter, onParams }: ListToolbarProps) {
  const kinds = useVulnerabilityFilters();
  const [format, setFormat] = useState<ExportFormat>();
  /** How many are to be changed. */
  const [changing, setChanging] = useState<number>();
  const { columns, sort: _, ...filter } = address;
  return (
    <>
      <FilterBar
        filters={kinds}
        values={Object.fromEntries(kinds.map(({ name }) => [name, filterValues(address, name)]))}
        onChange={(name, values) => onFilter(toFilterParam(name, values))}
        search={address.search}
        searchLabel="Search titles and texts"
        onSearch={(words) => onFilter({ search: words === '' ? undefined : words })}
      >
        <div className={classes.views}>
          <ViewsMenu
            page="vulnerabilities"
            search={address}
            onApply={(search) => onParams(parseVulnerabilityListParams(search))}
          />
          <ColumnsMenu
            columns={VULNERABILITY_TABLE_COLUMNS}
            selected={columns}
            required="title"
            onChange={(asked) =>
              onParams({ ...address, columns: asked && [...asked] } as VulnerabilityListParams)
            }
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

interface SelectionToolbarProps {
  count: number;
  onEdit: (kind: EditKind) => void;
  onClear: () => void;
}

/** What can be done with those that are chosen. */
export function SelectionToolbar({ count, onEdit, onClear }: SelectionToolbarProps) {
  return (
    <Group gap="xs" className={classes.chosen}>
      <Text size="sm" fw={600} role="status">
        {count.toLocaleString()} chosen
      </Text>
      {(['status', 'severity', 'tags', 'assignee', 'comment'] as const).map((kind) => (
        <Button key={kind} size="compact-sm" variant="light" onClick={() => onEdit(kind)}>
          {kind[0]?.toUpperCase() + kind.slice(1)}
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        Choose none
      </Button>
    </Group>
  );
}
