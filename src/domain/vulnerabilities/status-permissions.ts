import { isAdminOf, type Caller } from '../../auth/callers.ts';
import type { DismissalRole } from '../../auth/roles.ts';
import type { ReadConnection } from '../../db/database.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { DomainError } from '../shared/errors.ts';
import { type CallerRoles, mayDismiss, requirePermission } from '../shared/permissions.ts';
import { isClosed, STATUS } from '../shared/statuses-and-severities.ts';

/** A move of a vulnerability from one status to another. */
export interface StatusMove extends CallerRoles {
  organizationId: number;
  /** `null` for a new vulnerability. */
  from: number | null;
  to: number;
}

const selectDismissalRole = prepareQuery<{ id: number }, { dismissal_role: DismissalRole }>((db, p) =>
  db.selectFrom('organizations').select('dismissal_role').where('id', '=', p.id),
);

/**
 * Checks that the caller may make all of these moves. Moves between open statuses need `progress`, others `triage`;
 * moves to a dismissal also need the role that the organization requires.
 * @throws DomainError `forbidden`
 */
export async function requireStatusMoves(
  db: ReadConnection,
  caller: Caller,
  moves: readonly StatusMove[],
): Promise<void> {
  const dismissals = new Map<number, StatusMove[]>();
  for (const move of moves) {
    const { organizationId, from, to } = move;
    if (from === to || isAdminOf(caller, organizationId)) continue;
    const isOpenMove = !isClosed(to) && (from === null || !isClosed(from));
    requirePermission(caller, organizationId, move, isOpenMove ? 'progress' : 'triage');
    if (!isDismissed(to)) continue;
    const others = dismissals.get(organizationId);
    if (others === undefined) dismissals.set(organizationId, [move]);
    else others.push(move);
  }
  for (const [organizationId, ofOrganization] of dismissals)
    await requireCanDismiss(db, caller, organizationId, ofOrganization);
}

/** Whether a status dismisses a vulnerability without a fix: 6 to 9. */
export function isDismissed(statusId: number): boolean {
  return isClosed(statusId) && statusId !== STATUS.fixed;
}

/**
 * @param roles in assessments of the organization
 * @throws DomainError `forbidden` unless the caller may dismiss vulnerabilities with each of the roles
 */
export async function requireCanDismiss(
  db: ReadConnection,
  caller: Caller,
  organizationId: number,
  roles: readonly CallerRoles[],
): Promise<void> {
  if (!(await canDismiss(db, caller, organizationId, roles)))
    throw new DomainError('dismissal-role', { role: await dismissalRoleOf(db, organizationId) });
}

/** @returns whether the caller may dismiss vulnerabilities with each of the roles in assessments of the organization */
export async function canDismiss(
  db: ReadConnection,
  caller: Caller,
  organizationId: number,
  roles: readonly CallerRoles[],
): Promise<boolean> {
  if (isAdminOf(caller, organizationId)) return true;
  const dismissalRole = await dismissalRoleOf(db, organizationId);
  return roles.every((held) => mayDismiss(caller, organizationId, dismissalRole, held));
}

async function dismissalRoleOf(db: ReadConnection, id: number): Promise<DismissalRole> {
  const [organization] = await selectDismissalRole(db, { id });
  return organization?.dismissal_role ?? 'admin';
}
