import { queryOptions, useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { notify, notifyError } from '../components/notifications.ts';
import { api, type ImportJob, parseTotal, type Vulnerability } from './client.ts';
import type { ImportState } from './enums.ts';
import { type PagedList, usePagedList, v1Pages } from './paged-list.ts';
import { commonMessages } from '../components/messages.ts';
import { queryMessages } from './messages.ts';
import { refreshCounts, vulnerabilityFilterParams, type VulnerabilitySearch } from './vulnerabilities.ts';

/** Filters of operation 66. */
export interface ImportSearch {
  state?: ImportState[];
  assessment_id?: string[];
  organization_uid?: string[];
  /** Whether to include dry runs; each dropped report creates some. */
  dry_runs?: boolean;
}

/** Prefix of the query keys of all lists of imports. */
const IMPORTS_KEY = ['imports'] as const;

const filterParams = ({ dry_runs = false, ...search }: ImportSearch) => ({
  ...Object.fromEntries(
    Object.entries(search).map(([name, values]) => [`filter[${name}][]`, values as string[]]),
  ),
  ...(dry_runs ? {} : { 'filter[dry_run]': false }),
});

/** Lists imports (operation 66). */
export function useImports(search: ImportSearch): PagedList<ImportJob> {
  const query = filterParams(search);
  return usePagedList<ImportJob>({
    key: [...IMPORTS_KEY, search],
    ...v1Pages((page, signal) =>
      api.GET('/v1/imports', { params: { query: { ...query, ...page } }, signal }),
    ),
  });
}

export const isFinished = ({ state }: Pick<ImportJob, 'state'>) => state !== 'queued' && state !== 'running';

const importKey = (id: number) => ['import', id] as const;

/** Reads an import (operation 67). */
const importJob = (id: number) =>
  queryOptions({
    queryKey: importKey(id),
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/imports/{id}', { params: { path: { id } }, signal })).data,
  });

/** Reads an import and follows its progress until it finishes. */
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
  return { data: query.data, error: query.error ?? broken ?? null, refetch: query.refetch };
}

/** Reads the lists of imports again. */
export const refreshImportLists = (client: QueryClient): void =>
  void client.invalidateQueries({ queryKey: IMPORTS_KEY });

/** Findings of each kind that the page of an import shows. */
const MAX_FINDINGS = 20;
const FINDING_FIELDS = ['id', 'title', 'severity', 'status_id'] as const;

/** Reads the first findings that an import has changed (operation 15). */
export const importedFindingsQuery = (search: VulnerabilitySearch) =>
  queryOptions({
    // Changes of vulnerabilities refetch it with the totals.
    queryKey: ['vulnerability-total', search, 'imported'],
    async queryFn({ signal }) {
      const query = {
        ...vulnerabilityFilterParams(search),
        sort: '-severity' as const,
        fields: FINDING_FIELDS.join(','),
        'page[size]': MAX_FINDINGS,
      };
      const { data, response } = await api.GET('/v1/vulnerabilities', { params: { query }, signal });
      return {
        rows: data as readonly Pick<Vulnerability, (typeof FINDING_FIELDS)[number]>[],
        total: parseTotal(response),
      };
    },
  });

/** Refetches everything that an import may have changed. */
export function refreshAfterImport(client: QueryClient, job: ImportJob): void {
  client.setQueryData(importKey(job.id), job);
  void client.resetQueries({ queryKey: IMPORTS_KEY });
  if (job.options.dry_run) return;
  refreshCounts(client);
  for (const name of ['vulnerabilities', 'vulnerability', 'assets', 'asset', 'assessment'])
    void client.invalidateQueries({ queryKey: [name] });
}

/** Cancels an import (operation 69). Changes already applied stay. */
export function useCancelImport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (id: number) =>
      (await api.POST('/v1/imports/{id}/cancel', { params: { path: { id } } })).data,
    onSuccess(job) {
      client.setQueryData(importKey(job.id), job);
      void client.resetQueries({ queryKey: IMPORTS_KEY });
      notify(queryMessages.import.cancelled(job.file.filename));
    },
    onError: (error) => notifyError(queryMessages.import.cancelFailed, error),
  });
}

/** Polls for the end of an undo before leaving a long one to run in the background. */
const UNDO_POLLS = 60;
/** Milliseconds. */
const UNDO_POLL_INTERVAL = 1_000;

/** Undoes an import (operation 82) and waits for the result, for a minute at most. */
export function useUndoImport() {
  const client = useQueryClient();
  return useMutation({
    async mutationFn(id: number) {
      const params = { path: { id } };
      let { data } = await api.POST('/v1/imports/{id}/undo', { params });
      for (let polls = 0; data.undone === null && polls < UNDO_POLLS; polls += 1) {
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
          ? queryMessages.import.undoing(job.file.filename)
          : queryMessages.import.undone(queryMessages.import.undoResult(undone), undone.kept),
      );
    },
    onError: (error) => notifyError(commonMessages.undoFailed, error),
  });
}

/** Milliseconds between reads of the running imports while there are some, and while there are none. */
const RUNNING_INTERVAL = 10_000;
const IDLE_INTERVAL = 60_000;

/** Lists running and queued imports, newest first (operation 66). */
export const runningImportsQuery = queryOptions({
  queryKey: ['imports', 'running'],
  queryFn: async ({ signal }) =>
    (
      await api.GET('/v1/imports', {
        params: { query: { 'filter[state][]': ['queued', 'running'], 'page[size]': 10 } },
        signal,
      })
    ).data,
  refetchInterval: ({ state }) => (state.data?.length === 0 ? IDLE_INTERVAL : RUNNING_INTERVAL),
});

/** Milliseconds. */
const POLL_INTERVAL = 1_500;

/**
 * Follows an import until it finishes: by its event stream (operation 68), read with fetch because EventSource cannot
 * send a token, or by polling (operation 67) where a proxy blocks the stream.
 * @returns the finished import
 */
export async function followImport(
  id: number,
  onJob: (job: ImportJob) => void,
  signal: AbortSignal,
): Promise<ImportJob> {
  try {
    for await (const { name, data } of streamEvents(id, signal)) {
      const job = JSON.parse(data) as ImportJob;
      onJob(job);
      if (name === 'end') return job;
    }
  } catch (error) {
    if (signal.aborted) throw error;
  }
  for (;;) {
    const { data } = await api.GET('/v1/imports/{id}', { params: { path: { id } }, signal });
    onJob(data);
    if (data.finished_at !== null) return data;
    await sleep(POLL_INTERVAL, signal);
  }
}

/** Parses server-sent events (WHATWG), without comments. */
async function* streamEvents(
  id: number,
  signal: AbortSignal,
): AsyncGenerator<{ name: string; data: string }> {
  const { data } = await api.GET('/v1/imports/{id}/events', {
    params: { path: { id } },
    headers: { accept: 'text/event-stream' },
    parseAs: 'stream',
    signal,
  });
  if (data === null) return;
  const reader = data
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const complete = text.split('\n\n');
    text = complete.pop() ?? '';
    for (const event of complete) {
      const member = (name: string) =>
        event
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const eventData = member('data');
      if (eventData !== undefined) yield { name: member('event') ?? '', data: eventData };
    }
  }
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
