import { queryOptions, useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { pluralize, pluralizeVulnerabilities } from '../components/pluralize.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import { api, type ImportJob, parsePage, parseTotal } from './client.ts';
import { followImport } from './import-events.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

export type ImportState = ImportJob['state'];

export const IMPORT_STATE_LABELS: Readonly<Record<ImportState, string>> = {
  queued: 'Waiting',
  running: 'Running',
  succeeded: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

/** Of operation 66, by the names of its filters. */
export interface ImportSearch {
  state?: ImportState[];
  assessment_id?: string[];
  organization_uid?: string[];
  /** Whether dry runs are among them; each report that is dropped leaves some. */
  dry_runs?: boolean;
}

/** What every list of imports begins its key with. */
const IMPORTS_KEY = ['imports'] as const;

const filterParams = ({ dry_runs = false, ...search }: ImportSearch) => ({
  ...Object.fromEntries(
    Object.entries(search).map(([name, values]) => [`filter[${name}][]`, values as string[]]),
  ),
  ...(dry_runs ? {} : { 'filter[dry_run]': false }),
});

/** Operation 66. */
export function useImports(search: ImportSearch): PagedList<ImportJob> {
  const query = filterParams(search);
  return usePagedList<ImportJob>({
    key: [...IMPORTS_KEY, search],
    fetchPage: async (cursor, signal) =>
      parsePage<ImportJob>(
        await api.GET('/v1/imports', {
          params: { query: { ...query, 'page[size]': PAGE_SIZE, 'page[after]': cursor } },
          signal,
        }),
      ),
    async fetchTotal(signal) {
      const { response } = await api.GET('/v1/imports', {
        params: { query: { ...query, 'page[size]': 1 } },
        signal,
      });
      return parseTotal(response);
    },
  });
}

export const isFinished = ({ state }: Pick<ImportJob, 'state'>) => state !== 'queued' && state !== 'running';

const importKey = (id: number) => ['import', id] as const;

/** Operation 67. */
const importJob = (id: number) =>
  queryOptions({
    queryKey: importKey(id),
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/imports/{id}', { params: { path: { id } }, signal })).data,
  });

/** An import, followed to its end. */
export function useImport(id: number) {
  const client = useQueryClient();
  const query = useQuery(importJob(id));
  const [broken, setBroken] = useState<Error>();
  const runs = query.data !== undefined && !isFinished(query.data);
  useEffect(() => {
    if (!runs) return undefined;
    const stop = new AbortController();
    followImport(id, (job) => client.setQueryData(importKey(id), job), stop.signal).then(
      (job) => refreshAfterImport(client, job),
      (error: unknown) => {
        if (!stop.signal.aborted) setBroken(error as Error);
      },
    );
    return () => stop.abort();
  }, [id, runs, client]);
  return { data: query.data, error: query.error ?? broken ?? null };
}

/** Reads anew what an import may have changed. */
export function refreshAfterImport(client: QueryClient, job: ImportJob): void {
  client.setQueryData(importKey(job.id), job);
  void client.resetQueries({ queryKey: IMPORTS_KEY });
  if (job.options.dry_run) return;
  for (const name of ['vulnerabilities', 'vulnerability', 'assets', 'asset', 'summary', 'found'])
    void client.invalidateQueries({ queryKey: [name] });
}

/** Operation 69; what was applied stays, which is told. */
export function useCancelImport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (id: number) =>
      (await api.POST('/v1/imports/{id}/cancel', { params: { path: { id } } })).data,
    onSuccess(job) {
      client.setQueryData(importKey(job.id), job);
      void client.resetQueries({ queryKey: IMPORTS_KEY });
      notify(`${job.file.filename} stops. What was applied before stays.`);
    },
    onError: (error) => notifyError('It could not be cancelled', error),
  });
}

/** @returns what an undo took away and set back */
export const undoResultText = ({ findings, assets, statuses }: NonNullable<ImportJob['undone']>) =>
  `${pluralizeVulnerabilities(findings)} and ${pluralize(assets, 'asset')} taken away, ${pluralize(statuses, 'status', 'statuses')} set back`;

/** How often it is asked whether an undo is done, and every how many milliseconds. */
const [UNDO_POLLS, UNDO_POLL_INTERVAL] = [60, 1_000];

/** Operation 82. */
export function useUndoImport() {
  const client = useQueryClient();
  return useMutation({
    async mutationFn(id: number) {
      const params = { path: { id } };
      let { data } = await api.POST('/v1/imports/{id}/undo', { params });
      // It is done behind the answer; a long one is left to be told when somebody looks again.
      for (let asked = 0; data.undone === null && asked < UNDO_POLLS; asked += 1) {
        await new Promise((resolve) => setTimeout(resolve, UNDO_POLL_INTERVAL));
        ({ data } = await api.GET('/v1/imports/{id}', { params }));
      }
      return data;
    },
    onSuccess(job) {
      refreshAfterImport(client, job);
      const { undone } = job;
      notify(
        undone === null
          ? `${job.file.filename} is being undone.`
          : `Undone: ${undoResultText(undone)}, ${undone.kept.toLocaleString()} kept.`,
      );
    },
    onError: (error) => notifyError('It could not be undone', error),
  });
}
