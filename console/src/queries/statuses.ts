/** The id of the status Fixed. Smaller ones are open, greater ones dismiss a vulnerability without a fix. */
const FIXED = 5;

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
