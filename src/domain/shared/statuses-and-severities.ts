import type { FieldError } from './errors.ts';

/** Most severe first. */
export const SEVERITIES = ['Critical', 'High', 'Medium', 'Low', 'Informational'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** @returns the `severity_rank` of a severity: 4 for Critical to 0 for Informational */
export function severityRank(severity: string): number {
  return SEVERITIES.length - 1 - SEVERITIES.indexOf(severity as Severity);
}

/** @returns the severity of a `severity_rank` */
export function severityOfRank(rank: number): Severity {
  return SEVERITIES[SEVERITIES.length - 1 - rank] ?? 'Informational';
}

export const PHASES = ['new', 'open', 'closed'] as const;
export type Phase = (typeof PHASES)[number];

/** The ids of statuses: values of `status_id`. */
export const STATUS = {
  pendingReview: 1,
  pendingFix: 2,
  fixInProgress: 3,
  pendingVerification: 4,
  fixed: 5,
  acceptedRisk: 6,
  notValid: 7,
  duplicate: 8,
  outOfScope: 9,
} as const;

/** All statuses (docs/decided.md, section 6). */
export const VULNERABILITY_STATUSES = [
  {
    id: STATUS.pendingReview,
    name: 'Pending Review',
    phase: 'new',
    description: 'Reported and not reviewed yet.',
  },
  {
    id: STATUS.pendingFix,
    name: 'Pending Fix',
    phase: 'open',
    description: 'Confirmed and waiting for a fix.',
  },
  { id: STATUS.fixInProgress, name: 'Fix In Progress', phase: 'open', description: 'A fix is in progress.' },
  {
    id: STATUS.pendingVerification,
    name: 'Pending Verification',
    phase: 'open',
    description: 'Reported as fixed and waiting for a retest.',
  },
  { id: STATUS.fixed, name: 'Fixed', phase: 'closed', description: 'Fixed.' },
  {
    id: STATUS.acceptedRisk,
    name: 'Accepted Risk',
    phase: 'closed',
    description: 'Confirmed and not going to be fixed: the risk is accepted.',
  },
  { id: STATUS.notValid, name: 'Not Valid', phase: 'closed', description: 'Not a vulnerability.' },
  {
    id: STATUS.duplicate,
    name: 'Duplicate',
    phase: 'closed',
    description: 'Reported by another vulnerability already.',
  },
  {
    id: STATUS.outOfScope,
    name: 'Out Of Scope',
    phase: 'closed',
    description: 'Outside the scope of the assessment.',
  },
] as const satisfies readonly { id: number; name: string; phase: Phase; description: string }[];

export const STATUS_NAMES: ReadonlyMap<number, string> = new Map(
  VULNERABILITY_STATUSES.map(({ id, name }) => [id, name]),
);

export function statusIdsOf(phases: readonly string[]): number[] {
  return VULNERABILITY_STATUSES.filter(({ phase }) => phases.includes(phase)).map(({ id }) => id);
}

export function phaseOf(statusId: number): Phase {
  return VULNERABILITY_STATUSES.find(({ id }) => id === statusId)?.phase ?? 'new';
}

/** Whether a status is closed. SQL tests `closed_at is not null` instead. */
export function isClosed(statusId: number): boolean {
  return phaseOf(statusId) === 'closed';
}

/** @returns the `closed_at` of a vulnerability that gets this status at `now`: `null` unless the status is closed */
export function closedAt(statusId: number, now: number): number | null {
  return isClosed(statusId) ? now : null;
}

export function validateStatus(property: string, id: number): FieldError[] {
  return STATUS_NAMES.has(id) ? [] : [{ property, code: 'unknown-status', value: id }];
}
