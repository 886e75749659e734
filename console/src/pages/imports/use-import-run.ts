import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, type ImportJob } from '../../queries/client.ts';
import { followImport, refreshAfterImport, isFinished } from '../../queries/imports.ts';
import { type FileSettings, type ImportSettings, uploadImport } from '../../queries/upload-import.ts';
import { createSemaphore } from '../../queries/semaphore.ts';
import type { UploadState } from '../../queries/upload.ts';

/** The upload (`progress`) and then the job of an import, or the error that rejected it. */
export interface ImportRun {
  progress: UploadState;
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
const acquireDryRunSlot = createSemaphore(MAX_CONCURRENT_DRY_RUNS);

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
        const onState = (progress: UploadState) => setRun({ progress });
        last = await uploadImport({ ...report.current, dryRun: true, onState, signal });
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
      const onState = (progress: UploadState) => setRun({ progress });
      const job = await uploadImport({ ...report, dryRun: false, onState, signal });
      const show = (now: ImportJob) => setRun({ progress: 1, job: now });
      show(job);
      refreshAfterImport(client, await followImport(job.id, show, signal));
    } catch (error) {
      if (!signal.aborted) setRun({ progress: 1, error: error as Error });
    }
  };
  return { run, start: (report) => void start(report) };
}
