import type { Generated } from 'kysely';

/** Queued and recurring jobs. One instance runs each. */
export interface JobsTables {
  jobs: JobTable;
  job_queues: { kind: string };
  write_probes: { id: number; payload: string };
}

interface JobTable {
  id: Generated<number>;
  kind: string;
  /** At most one job has it; `null` for no such limit. */
  key: string | null;
  /** Jobs with the same key share a limit; `null` for no limit. */
  quota_key: string | null;
  payload: string;
  /** How often the job was started. */
  attempts: number;
  /** When the job is due; for a running one, when its lease expires. */
  run_at: number;
  /** The instance that runs the job; `null` while it is queued. */
  locked_by: string | null;
  created_at: number;
  /** When the job began to send its mail; `null` if it sends none, or the mail server did not accept it. */
  mail_started_at: Generated<number | null>;
}
