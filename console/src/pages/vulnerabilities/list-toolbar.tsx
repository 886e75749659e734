import { Button, Group, Menu, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { ExportFormat } from '../../queries/export-vulnerabilities.ts';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { ColumnsMenu } from '../../components/columns-menu.tsx';
import { commonMessages } from '../../components/messages.ts';
import { FilterBar } from '../../components/filter-bar.tsx';
import { ViewsMenu } from '../../components/views-menu.tsx';
import {
  filterValues,
  type VulnerabilityListParamsChange,
  toFilterParam,
  type VulnerabilityListParams,
  parseVulnerabilityListParams,
} from '../../app/search-params.ts';
import { VULNERABILITY_TABLE_COLUMNS } from './columns.tsx';
import { useVulnerabilityFilters } from './filters.tsx';
import type { EditKind } from './edit-targets.ts';
import { usePermissions } from '../../session/permissions.ts';
import { vulnerabilityListMessages as messages } from './messages.ts';
import classes from './vulnerability-list.module.css';

const ExportDialog = lazy(() => import('./export-dialog.tsx'));
const BulkEditAll = lazy(() => import('./bulk-edit-all.tsx'));

interface ListToolbarProps {
  /** Filters, sort order and columns. */
  params: Omit<VulnerabilityListParams, 'open'>;
  /** Number of matches; undefined until counted. */
  total: number | undefined;
  onFilter: (change: VulnerabilityListParamsChange) => void;
  /** Replaces all parameters. */
  onParams: (params: VulnerabilityListParams) => void;
}

/** Search, filters, views, columns, export and bulk edit of all matches. */
export function ListToolbar({ params, total, onFilter, onParams }: ListToolbarProps) {
  const filters = useVulnerabilityFilters();
  // An edit of all fails if one of the matches may not be edited.
  const canEditAll = usePermissions().allowsAll('comment', params.assessment_id);
  const [format, setFormat] = useState<ExportFormat>();
  /** The number of matches when the bulk edit was opened. */
  const [editedTotal, setEditedTotal] = useState<number>();
  const { columns, sort: _, ...filter } = params;
  return (
    <>
      <FilterBar
        filters={filters}
        values={Object.fromEntries(filters.map(({ name }) => [name, filterValues(params, name)]))}
        onChange={(name, values) => onFilter(toFilterParam(name, values))}
        search={params.search}
        searchLabel={messages.searchLabel}
        onSearch={(text) => onFilter({ search: text === '' ? undefined : text })}
      >
        <div className={classes.views}>
          <ViewsMenu
            page="vulnerabilities"
            search={params}
            onApply={(search) => onParams(parseVulnerabilityListParams(search))}
          />
          <ColumnsMenu
            columns={VULNERABILITY_TABLE_COLUMNS}
            selected={columns}
            required="title"
            onChange={(selected) =>
              onParams({ ...params, columns: selected && [...selected] } as VulnerabilityListParams)
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
              <Menu.Item onClick={() => setFormat('csv')}>{messages.exportCsv}</Menu.Item>
              <Menu.Item onClick={() => setFormat('ndjson')}>{messages.exportNdjson}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
          {canEditAll && (
            <Button
              size="compact-sm"
              variant="default"
              radius="xl"
              // The server compares the number that the user saw with the number of matches.
              disabled={total === undefined || total === 0}
              onClick={() => setEditedTotal(total)}
            >
              {messages.editAll(total)}
            </Button>
          )}
        </div>
      </FilterBar>
      <Suspense>
        {format !== undefined && (
          <ExportDialog format={format} search={filter} total={total} onClose={() => setFormat(undefined)} />
        )}
        {editedTotal !== undefined && (
          <BulkEditAll filter={filter} total={editedTotal} onClose={() => setEditedTotal(undefined)} />
        )}
      </Suspense>
    </>
  );
}

interface SelectionToolbarProps {
  count: number;
  /** The fields that may be edited of all selected ones. */
  kinds: readonly EditKind[];
  onEdit: (kind: EditKind) => void;
  /** Set if there are drafts among them. */
  onPublish: (() => void) | undefined;
  onClear: () => void;
}

/** Edits the selected vulnerabilities. */
export function SelectionToolbar({ count, kinds, onEdit, onPublish, onClear }: SelectionToolbarProps) {
  return (
    <Group gap="xs" className={classes.selection}>
      <Text size="sm" fw={600} role="status">
        {messages.selected(count)}
      </Text>
      {kinds.length === 0 && <DimmedText>{messages.noneEditable}</DimmedText>}
      {kinds.map((kind) => (
        <Button key={kind} size="compact-sm" variant="light" onClick={() => onEdit(kind)}>
          {kind[0]?.toUpperCase() + kind.slice(1)}
        </Button>
      ))}
      {onPublish !== undefined && (
        <Button size="compact-sm" variant="light" onClick={onPublish}>
          {commonMessages.draft.publish}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        Clear
      </Button>
    </Group>
  );
}
