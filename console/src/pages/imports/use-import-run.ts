import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, type ImportJob } from '../../queries/client.ts';
import { followImport } from '../../queries/import-events.ts';
import { type FileWishes, type ImportWishes, uploadReport } from '../../queries/upload-import.ts';
import { ended, isOver } from '../../queries/imports.ts';

/** How far a report came: it is sent (a part from 0 to 1), then it is a job; or it was refused. */
export interface Run {
  sent: number;
  job?: ImportJob;
  refusal?: Error;
}

interface Report {
  file: File;
  wishes: ImportWishes;
  own: FileWishes;
}

/** So many dry runs at once: an organization has room for twenty imports that wait. */
const AT_ONCE = 2;
const waiting: (() => void)[] = [];
let running = 0;

async function takeTurn(): Promise<() => void> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  return () => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
}

/** Typing in an option settles before a report is looked at again, in milliseconds. */
const SETTLES = 400;

/** What an import of a report would do, found out anew whenever its options change (operation 65, `dry_run`). */
export function useDryRun({ file, wishes, own }: Report, isOn: boolean): Run | undefined {
  const client = useQueryClient();
  const [found, setFound] = useState<{ key: string; run: Run }>();
  const key = JSON.stringify([wishes, own]);
  const report = useRef<Report>({ file, wishes, own });
  useEffect(() => {
    report.current = { file, wishes, own };
  });
  useEffect(() => {
    if (!isOn) return undefined;
    const stop = new AbortController();
    const { signal } = stop;
    let last: ImportJob | undefined;
    const setRun = (run: Run) => setFound({ key, run });
    const timer = setTimeout(() => {
      void look();
    }, SETTLES);
    async function look(): Promise<void> {
      const endTurn = await takeTurn();
      try {
        if (signal.aborted) return;
        setRun({ sent: 0 });
        const onSent = (sent: number) => setRun({ sent });
        last = await uploadReport({ ...report.current, dryRun: true, onSent, signal });
        const show = (job: ImportJob) => {
          last = job;
          if (!signal.aborted) setRun({ sent: 1, job });
        };
        show(last);
        ended(client, await followImport(last.id, show, signal));
      } catch (error) {
        if (!signal.aborted) setRun({ sent: 1, refusal: error as Error });
      } finally {
        endTurn();
      }
    }
    return () => {
      clearTimeout(timer);
      stop.abort();
      // Nobody waits for it any more, and others of the assessment may.
      if (last !== undefined && !isOver(last))
        void api
          .POST('/v1/imports/{id}/cancel', { params: { path: { id: last.id } } })
          .catch(() => undefined);
    };
  }, [key, isOn, client]);
  // Of other options than these nothing is known yet.
  return isOn && found?.key === key ? found.run : undefined;
}

/** Imports a report, and follows it to its end. */
export function useStart(): { run: Run | undefined; start: (report: Report) => void } {
  const client = useQueryClient();
  const [run, setRun] = useState<Run>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    stop.current = controller;
    return () => controller.abort();
  }, []);
  const start = async (report: Report) => {
    const { signal } = stop.current ?? new AbortController();
    setRun({ sent: 0 });
    try {
      const onSent = (sent: number) => setRun({ sent });
      const job = await uploadReport({ ...report, dryRun: false, onSent, signal });
      const show = (now: ImportJob) => setRun({ sent: 1, job: now });
      show(job);
      ended(client, await followImport(job.id, show, signal));
    } catch (error) {
      if (!signal.aborted) setRun({ sent: 1, refusal: error as Error });
    }
  };
  return { run, start: (report) => void start(report) };
}
