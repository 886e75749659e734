/** The id of the status Fixed. Smaller ones are open, greater ones dismiss a vulnerability without a fix. */
const FIXED = 5;

/** The names of the statuses on screen, by id. The API and exports write them in title case. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  1: 'Pending review',
  2: 'Pending fix',
  3: 'Fix in progress',
  4: 'Pending verification',
  [FIXED]: 'Fixed',
  6: 'Accepted risk',
  7: 'Not valid',
  8: 'Duplicate',
  9: 'Out of scope',
};

export const statusName = (id: number): string => STATUS_NAMES[id] ?? String(id);

export const STATUS_IDS = Object.keys(STATUS_NAMES).map(Number);

export const phaseOf = (statusId: number): 'new' | 'open' | 'closed' =>
  statusId === 1 ? 'new' : statusId < FIXED ? 'open' : 'closed';

/** Whether a status dismisses a vulnerability without a fix, which takes a reason. */
export const isDismissal = (statusId: number): boolean => statusId > FIXED;

interface StatusRights {
  comment: boolean;
  triage: boolean;
  dismiss: boolean;
}

/** Whether rights in a vulnerability permit a change of its status. */
export function maySetStatus(
  { comment, triage, dismiss }: StatusRights,
  { from, to }: { from: number; to: number },
): boolean {
  if (isDismissal(to)) return dismiss;
  return triage || (comment && from < FIXED && to < FIXED);
}
