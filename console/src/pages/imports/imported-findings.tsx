import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import type { ImportJob } from '../../queries/client.ts';
import { importedFindingsQuery } from '../../queries/imports.ts';
import { listAddress, type VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import type { ChangeKind } from './import-changes.tsx';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

const messages = importMessages.result;

/** Id of the status of a fixed finding that is seen again. */
const REOPENED = 2;

/** @returns the findings of a kind; undefined if the API cannot tell them apart */
export function searchOfKind(
  { id, assessment_id: uid, started_at: since }: ImportJob,
  kind: ChangeKind,
): VulnerabilitySearch | undefined {
  if (kind === 'new') return { import_id: [id] };
  if (kind === 'gone') return { gone_import_id: [id] };
  if (kind === 'again' || uid === null || since === null) return undefined;
  return { assessment_id: [uid], status_id: [REOPENED], updated_since: since };
}

/** The first findings of a kind that an import has changed, as they are now. */
export function ImportedFindings({ job, kind, count }: { job: ImportJob; kind: ChangeKind; count: number }) {
  const search = job.undone === null ? searchOfKind(job, kind) : undefined;
  if (search === undefined) return <DimmedText className={classes.line}>{messages.noList(count)}</DimmedText>;
  return <Findings search={search} label={messages.kinds[kind]} />;
}

function Findings({ search, label }: { search: VulnerabilitySearch; label: string }) {
  const { data } = useQuery(importedFindingsQuery(search));
  if (data === undefined) return <Skeleton className={classes.waiting} height={12} />;
  const { rows, total } = data;
  return (
    <>
      <ul className={classes.findings} aria-label={label}>
        {rows.map(({ id, title, severity, status_id }) => (
          <li key={id}>
            <SeverityMark severity={severity} />
            <Link to="/vulnerabilities/$id" params={{ id: String(id) }} dir="auto">
              {title}
            </Link>
            <StatusMark id={status_id} withLabel />
          </li>
        ))}
      </ul>
      <p className={classes.line}>
        <Link to="/vulnerabilities" search={listAddress(search)} className={classes.more}>
          {messages.showInList(total)}
        </Link>
      </p>
    </>
  );
}
