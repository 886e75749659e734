import type { ImportJob } from '../../queries/client.ts';
import type { Column } from '../../components/table-column.ts';
import { TwoLines } from '../../components/stacked-cell.tsx';
import { Time } from '../../components/time.tsx';
import { formatName } from './formats.ts';
import { ImportState } from './import-state-badge.tsx';
import { RowLink } from '../../components/row-link.tsx';

const number = (count: number | undefined) =>
  count === undefined || count === 0 ? '' : count.toLocaleString();

/** The columns of the imports. */
export const COLUMNS: readonly Column<ImportJob>[] = [
  {
    id: 'file',
    header: 'Report',
    width: 'minmax(110px, 2fr)',
    cell: ({ id, file }) => (
      <RowLink to={`/imports/${id}`} title={file.filename}>
        {file.filename === '' ? `Import ${id}` : file.filename}
      </RowLink>
    ),
    narrow: {
      cell: ({ id, file, format, created_at }) => (
        <TwoLines
          second={
            <>
              {formatName(format)}, <Time at={created_at} />
            </>
          }
        >
          <RowLink to={`/imports/${id}`} title={file.filename}>
            {file.filename === '' ? `Import ${id}` : file.filename}
          </RowLink>
        </TwoLines>
      ),
    },
  },
  {
    id: 'state',
    header: 'State',
    width: '112px',
    cell: ({ state, options, undone }) => {
      const word = options.dry_run ? 'Dry run' : undone !== null ? 'Undone' : undefined;
      const shown = <ImportState state={state} />;
      return word === undefined ? shown : <TwoLines second={word}>{shown}</TwoLines>;
    },
  },
  { id: 'format', header: 'Format', width: '110px', from: 560, cell: ({ format }) => formatName(format) },
  {
    id: 'assessment',
    header: 'Assessment',
    width: 'minmax(100px, 1fr)',
    from: 680,
    cell: ({ assessment_id }) => assessment_id ?? '',
  },
  {
    id: 'new',
    header: 'New',
    width: '64px',
    from: 900,
    cell: ({ result }) => number(result?.findings_created),
  },
  {
    id: 'gone',
    header: 'Gone',
    width: '64px',
    from: 900,
    cell: ({ result }) => number(result?.findings_gone),
  },
  {
    id: 'by',
    header: 'By',
    width: 'minmax(100px, 0.8fr)',
    from: 1000,
    cell: ({ created_by }) => created_by?.name ?? created_by?.email ?? 'Command line',
  },
  {
    id: 'at',
    header: 'Started',
    width: '112px',
    from: 400,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];
