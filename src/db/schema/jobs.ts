import type { Generated } from 'kysely';

/** Work that is done once and by one, whichever instance takes it. */
export interface JobsTables {
  jobs: JobTable;
  job_queues: { kind: string };
  write_probes: { id: number; payload: string };
}

interface JobTable {
  id: Generated<number>;
  kind: string;
  /** Of its kind there is one alone; `null` where there may be many. */
  key: string | null;
  /** Who may only have so many waiting; `null` where that is not bounded. */
  quota_key: string | null;
  payload: string;
  /** How often it was taken. */
  attempts: number;
  /** When it may be taken, or, while somebody has it, taken away from them. */
  run_at: number;
  /** Who has it; `null` for nobody. */
  locked_by: string | null;
  created_at: number;
}
