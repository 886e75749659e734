import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { parseVulnerabilityListParams, type VulnerabilityListParams } from '../../app/search-params.ts';
import { WideText } from '../../components/page-actions.tsx';
import { ViewsMenu } from '../../components/views-menu.tsx';
import type { ExportFormat } from '../../queries/export-vulnerabilities.ts';
import { MoreMenu } from '../../components/more-menu.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { searchOfTab } from './list-tabs.tsx';
import { vulnerabilityListMessages as messages } from './messages.ts';

const ExportDialog = lazy(() => import('./export-dialog.tsx'));
const BulkEditAll = lazy(() => import('./bulk-edit-all.tsx'));

interface ListActionsProps {
  /** Filters, sort order and columns. */
  params: Omit<VulnerabilityListParams, 'open'>;
  /** Number of matches; undefined until counted. */
  total: number | undefined;
  /** Replaces all parameters. */
  onParams: (params: VulnerabilityListParams) => void;
}

/** Views, export and bulk edit of all matches. */
export function ListActions({ params, total, onParams }: ListActionsProps) {
  // An edit of all fails if one of the matches may not be edited.
  const canEditAll = usePermissions().allowsAll('comment', params.assessment_id);
  const [format, setFormat] = useState<ExportFormat>();
  /** The number of matches when the bulk edit was opened. */
  const [editedTotal, setEditedTotal] = useState<number>();
  const { columns: _, sort: __, group: ___, ...addressFilter } = params;
  const filter = searchOfTab(addressFilter);
  return (
    <>
      <ViewsMenu
        page="vulnerabilities"
        search={params}
        onApply={(search) => onParams(parseVulnerabilityListParams(search))}
      />
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="subtle" color="gray" leftSection={<IconDownload size={16} aria-hidden />}>
            <WideText>Export</WideText>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setFormat('csv')}>{messages.exportCsv}</Menu.Item>
          <Menu.Item onClick={() => setFormat('ndjson')}>{messages.exportNdjson}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {canEditAll && (
        <MoreMenu>
          <Menu.Item
            // The server compares the number that the user saw with the number of matches.
            disabled={total === undefined || total === 0}
            onClick={() => setEditedTotal(total)}
          >
            {messages.editAll(total)}
          </Menu.Item>
        </MoreMenu>
      )}
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
