import { AssessmentName } from '../../components/assessment-name.tsx';
import type { ImportJob } from '../../queries/client.ts';
import { type Column, StackedCell, RowLink } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';
import { formatLabel } from './formats.ts';
import { ImportStateBadge } from './import-state-badge.tsx';
import { importMessages } from './messages.ts';

const formatNumber = (count: number | undefined) =>
  count === undefined || count === 0 ? '' : count.toLocaleString();

export const IMPORT_COLUMNS: readonly Column<ImportJob>[] = [
  {
    id: 'file',
    header: 'Report',
    width: 'minmax(110px, 2fr)',
    cell: ({ id, file }) => (
      <RowLink to={`/imports/${id}`} title={file.filename}>
        {file.filename === '' ? importMessages.importName(id) : file.filename}
      </RowLink>
    ),
    narrow: {
      cell: ({ id, file, format, created_at }) => (
        <StackedCell
          secondary={
            <>
              {formatLabel(format)}, <Time at={created_at} />
            </>
          }
        >
          <RowLink to={`/imports/${id}`} title={file.filename}>
            {file.filename === '' ? importMessages.importName(id) : file.filename}
          </RowLink>
        </StackedCell>
      ),
    },
  },
  {
    id: 'state',
    header: 'State',
    width: '112px',
    cell: ({ state, options, undone }) => {
      const badge = <ImportStateBadge state={state} isUndone={undone !== null} />;
      return options.dry_run ? <StackedCell secondary={importMessages.dryRun}>{badge}</StackedCell> : badge;
    },
  },
  {
    id: 'format',
    header: 'Format',
    width: '110px',
    minTableWidth: 560,
    cell: ({ format }) => formatLabel(format),
  },
  {
    id: 'assessment',
    header: 'Assessment',
    width: 'minmax(100px, 1fr)',
    minTableWidth: 680,
    cell: ({ assessment_id: uid }) => uid !== null && <AssessmentName uid={uid} />,
  },
  {
    id: 'new',
    header: 'New',
    width: '64px',
    minTableWidth: 900,
    cell: ({ result }) => formatNumber(result?.findings_created),
  },
  {
    id: 'gone',
    header: 'Gone',
    width: '64px',
    minTableWidth: 900,
    cell: ({ result }) => formatNumber(result?.findings_gone),
  },
  {
    id: 'by',
    header: 'By',
    width: 'minmax(100px, 0.8fr)',
    minTableWidth: 1000,
    cell: ({ created_by }) => created_by?.name ?? created_by?.email ?? importMessages.commandLine,
  },
  {
    id: 'at',
    header: 'Started',
    width: '136px',
    minTableWidth: 400,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];
