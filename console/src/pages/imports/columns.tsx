import { AssessmentName } from '../../components/assessment-name.tsx';
import type { ImportJob } from '../../queries/client.ts';
import { type Column, StackedCell, RowLink } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';
import { formatLabel } from './formats.ts';
import { ImportStateBadge } from './import-state-badge.tsx';
import { importMessages } from './messages.ts';
import { outcomeText } from './outcome.ts';

/** Pixels of a table on a phone. */
const PHONE_TABLE = 600;

export const importName = ({ id, file }: Pick<ImportJob, 'id' | 'file'>): string =>
  file.filename === '' ? importMessages.importName(id) : file.filename;

const FileLink = ({ job }: { job: ImportJob }) => (
  <RowLink to={`/imports/${job.id}`} title={job.file.filename}>
    {importName(job)}
  </RowLink>
);

const Outcome = ({ job }: { job: ImportJob }) => (
  <ImportStateBadge state={job.state} isUndone={job.undone !== null} text={outcomeText(job)} />
);

const formatText = ({ format, options }: ImportJob) =>
  options.dry_run ? `${formatLabel(format)}, ${importMessages.dryRun}` : formatLabel(format);

export const IMPORT_COLUMNS: readonly Column<ImportJob>[] = [
  {
    id: 'file',
    header: 'Report',
    width: 'minmax(110px, 2fr)',
    cell: (job) => (
      <StackedCell secondary={formatText(job)}>
        <FileLink job={job} />
      </StackedCell>
    ),
    narrow: {
      below: PHONE_TABLE,
      cell: (job) => (
        <>
          <StackedCell
            secondary={
              <>
                {formatText(job)}, <Time at={job.created_at} />
              </>
            }
          >
            <FileLink job={job} />
          </StackedCell>
          <Outcome job={job} />
        </>
      ),
    },
  },
  {
    id: 'assessment',
    header: 'Assessment',
    width: 'minmax(100px, 1.2fr)',
    minTableWidth: 860,
    cell: ({ assessment_id: uid }) => uid !== null && <AssessmentName uid={uid} />,
  },
  {
    id: 'outcome',
    header: 'Outcome',
    width: 'minmax(120px, 1.6fr)',
    minTableWidth: PHONE_TABLE,
    cell: (job) => <Outcome job={job} />,
  },
  {
    id: 'by',
    header: 'By',
    width: 'minmax(100px, 0.8fr)',
    minTableWidth: 760,
    cell: ({ created_by }) => created_by?.name ?? created_by?.email ?? importMessages.commandLine,
  },
  {
    id: 'at',
    header: 'Started',
    width: '136px',
    minTableWidth: PHONE_TABLE,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];
