import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, type ImportJob } from '../../queries/client.ts';
import { followImport } from '../../queries/import-events.ts';
import { type FileSettings, type ImportSettings, uploadImport } from '../../queries/upload-import.ts';
import { refreshAfterImport, isFinished } from '../../queries/imports.ts';

/** The upload (`progress` from 0 to 1) and then the job of an import, or the error that rejected it. */
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

/** An organization may have twenty imports in its queue. */
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

/** Milliseconds after the last change of an option. */
const DEBOUNCE = 400;

/** Previews an import, again whenever its options change (operation 65, `dry_run`). */
export function useDryRun(
  { file, settings, fileSettings }: ImportFile,
  isOn: boolean,
): ImportRun | undefined {
  const client = useQueryClient();
  const [latest, setLatest] = useState<{ key: string; run: ImportRun }>();
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
    const setRun = (run: ImportRun) => setLatest({ key, run });
    const timer = setTimeout(() => {
      void preview();
    }, DEBOUNCE);
    async function preview(): Promise<void> {
      const releaseSlot = await acquireDryRunSlot();
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
        releaseSlot();
      }
    }
    return () => {
      clearTimeout(timer);
      stop.abort();
      // Frees the queue for the next import of the assessment.
      if (last !== undefined && !isFinished(last))
        void api
          .POST('/v1/imports/{id}/cancel', { params: { path: { id: last.id } } })
          .catch(() => undefined);
    };
  }, [key, isOn, client]);
  // The preview of other options does not apply.
  return isOn && latest?.key === key ? latest.run : undefined;
}

/** Imports a report and follows its progress. */
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
