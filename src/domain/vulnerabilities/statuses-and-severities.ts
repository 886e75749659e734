import { type FieldError } from '../shared/errors.ts';

/** From the gravest on. */
export const SEVERITIES = ['Critical', 'High', 'Medium', 'Low', 'Informational'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** @returns 4 for Critical to 0 for Informational, as the column `severity_rank` has it */
export function severityRank(severity: string): number {
  return SEVERITIES.length - 1 - SEVERITIES.indexOf(severity as Severity);
}

export const PHASES = ['new', 'open', 'closed'] as const;
export type Phase = (typeof PHASES)[number];

/** The status of what was fixed. */
export const FIXED = 5;

/** The catalogue behind `status_id` (docs/decided.md, section 6). */
export const VULNERABILITY_STATUSES = [
  {
    id: 1,
    name: 'Pending Review',
    phase: 'new',
    description: 'It was reported, and nobody has looked at it yet.',
  },
  { id: 2, name: 'Pending Fix', phase: 'open', description: 'It is real and has to be fixed.' },
  { id: 3, name: 'Fix In Progress', phase: 'open', description: 'Somebody works on the fix.' },
  {
    id: 4,
    name: 'Pending Verification',
    phase: 'open',
    description: 'It is said to be fixed, and is to be tested again.',
  },
  { id: FIXED, name: 'Fixed', phase: 'closed', description: 'It was fixed.' },
  {
    id: 6,
    name: 'Accepted Risk',
    phase: 'closed',
    description: 'It is real and stays: the risk is accepted.',
  },
  { id: 7, name: 'Not Valid', phase: 'closed', description: 'It is no vulnerability.' },
  { id: 8, name: 'Duplicate', phase: 'closed', description: 'Another vulnerability tells of the same.' },
  {
    id: 9,
    name: 'Out Of Scope',
    phase: 'closed',
    description: 'It is nothing that the assessment is about.',
  },
] as const satisfies readonly { id: number; name: string; phase: Phase; description: string }[];

/** Names of statuses by id. */
export const STATUS_NAMES: ReadonlyMap<number, string> = new Map(
  VULNERABILITY_STATUSES.map(({ id, name }) => [id, name]),
);

/** @returns the ids of the statuses of these phases */
export function statusIdsOf(phases: readonly string[]): number[] {
  return VULNERABILITY_STATUSES.filter(({ phase }) => phases.includes(phase)).map(({ id }) => id);
}

export function phaseOf(statusId: number): Phase {
  return VULNERABILITY_STATUSES.find(({ id }) => id === statusId)?.phase ?? 'new';
}

export function isClosed(statusId: number): boolean {
  return phaseOf(statusId) === 'closed';
}

/** @returns when something was closed that has this status since then; `null` where it is not closed */
export function closedAt(statusId: number, since: number): number | null {
  return isClosed(statusId) ? since : null;
}

/** @returns what is wrong with the id of a status, or nothing */
export function validateStatus(property: string, id: number): FieldError[] {
  return STATUS_NAMES.has(id) ? [] : [{ property, message: 'is not the id of a status', value: id }];
}
