import { hashKey, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { type ImportSearch, refreshImportLists, runningImportsQuery } from '../../queries/imports.ts';
import { importName } from './columns.tsx';
import { ImportProgress } from './import-progress.tsx';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

/** Milliseconds between reads while some run. */
const INTERVAL = 2_000;

/** The imports that wait or run, with their progress. When one has finished, the lists are read again. */
export function RunningImports({ search }: { search: ImportSearch }) {
  const client = useQueryClient();
  const { data } = useQuery({
    ...runningImportsQuery,
    refetchOnMount: 'always',
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > 0 ? INTERVAL : false),
  });
  const ids = data === undefined ? undefined : hashKey(data.map(({ id }) => id));
  const previous = useRef(ids);
  useEffect(() => {
    if (previous.current !== undefined && ids !== undefined && previous.current !== ids)
      refreshImportLists(client);
    previous.current = ids;
  }, [ids, client]);
  const { assessment_id: uids, dry_runs: withDryRuns = false } = search;
  const shown = (data ?? []).filter(
    ({ assessment_id: uid, options }) =>
      (withDryRuns || !options.dry_run) && (uids === undefined || (uid !== null && uids.includes(uid))),
  );
  if (shown.length === 0) return null;
  return (
    <section className={classes.running} aria-label={importMessages.running}>
      {shown.map((job) => (
        <div key={job.id}>
          <p>
            <Link to="/imports/$id" params={{ id: String(job.id) }} dir="auto">
              {importName(job)}
            </Link>
            {job.assessment_id !== null && <AssessmentName uid={job.assessment_id} />}
          </p>
          <ImportProgress job={job} />
        </div>
      ))}
    </section>
  );
}
