import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, type ImportJob } from '../../queries/client.ts';
import { followImport } from '../../queries/import-events.ts';
import { type FileSettings, type ImportSettings, uploadImport } from '../../queries/upload-import.ts';
import { refreshAfterImport, isFinished } from '../../queries/imports.ts';

/** How far a report came: it is sent (a part from 0 to 1), then it is a job; or it was refused. */
export interface ImportRun {
  progress: number;
  job?: ImportJob;
  error?: Error;
}

interface ImportFile {
  file: File;
  settings: ImportSettings;
  fileSettings: FileSettings;
}

/** So many dry runs at once: an organization has room for twenty imports that wait. */
const MAX_CONCURRENT_DRY_RUNS = 2;
const waiting: (() => void)[] = [];
let running = 0;

async function acquireDryRunSlot(): Promise<() => void> {
  if (running >= MAX_CONCURRENT_DRY_RUNS) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  return () => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
}

/** Typing in an option settles before a report is looked at again, in milliseconds. */
const DEBOUNCE = 400;

/** What an import of a report would do, found out anew whenever its options change (operation 65, `dry_run`). */
export function useDryRun(
  { file, settings, fileSettings }: ImportFile,
  isOn: boolean,
): ImportRun | undefined {
  const client = useQueryClient();
  const [found, setFound] = useState<{ key: string; run: ImportRun }>();
  const key = JSON.stringify([settings, fileSettings]);
  const report = useRef<ImportFile>({ file, settings, fileSettings });
  useEffect(() => {
    report.current = { file, settings, fileSettings };
  });
  useEffect(() => {
    if (!isOn) return undefined;
    const stop = new AbortController();
    const { signal } = stop;
    let last: ImportJob | undefined;
    const setRun = (run: ImportRun) => setFound({ key, run });
    const timer = setTimeout(() => {
      void look();
    }, DEBOUNCE);
    async function look(): Promise<void> {
      const endTurn = await acquireDryRunSlot();
      try {
        if (signal.aborted) return;
        setRun({ progress: 0 });
        const onProgress = (progress: number) => setRun({ progress });
        last = await uploadImport({ ...report.current, dryRun: true, onProgress, signal });
        const show = (job: ImportJob) => {
          last = job;
          if (!signal.aborted) setRun({ progress: 1, job });
        };
        show(last);
        refreshAfterImport(client, await followImport(last.id, show, signal));
      } catch (error) {
        if (!signal.aborted) setRun({ progress: 1, error: error as Error });
      } finally {
        endTurn();
      }
    }
    return () => {
      clearTimeout(timer);
      stop.abort();
      // Nobody waits for it any more, and others of the assessment may.
      if (last !== undefined && !isFinished(last))
        void api
          .POST('/v1/imports/{id}/cancel', { params: { path: { id: last.id } } })
          .catch(() => undefined);
    };
  }, [key, isOn, client]);
  // Of other options than these nothing is known yet.
  return isOn && found?.key === key ? found.run : undefined;
}

/** Imports a report, and follows it to its end. */
export function useStartImport(): { run: ImportRun | undefined; start: (report: ImportFile) => void } {
  const client = useQueryClient();
  const [run, setRun] = useState<ImportRun>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    stop.current = controller;
    return () => controller.abort();
  }, []);
  const start = async (report: ImportFile) => {
    const { signal } = stop.current ?? new AbortController();
    setRun({ progress: 0 });
    try {
      const onProgress = (progress: number) => setRun({ progress });
      const job = await uploadImport({ ...report, dryRun: false, onProgress, signal });
      const show = (now: ImportJob) => setRun({ progress: 1, job: now });
      show(job);
      refreshAfterImport(client, await followImport(job.id, show, signal));
    } catch (error) {
      if (!signal.aborted) setRun({ progress: 1, error: error as Error });
    }
  };
  return { run, start: (report) => void start(report) };
}
