import { administers, type Caller } from '../../auth/callers.ts';
import type { Reader } from '../../db/engine.ts';
import { prepare } from '../../db/prepared-queries.ts';
import { Failure } from '../shared/errors.ts';
import { unknownGroup } from './assessments.ts';
import type { GroupRole } from './groups.ts';

const CREATORS: readonly GroupRole[] = ['assessment_creator', 'rbac_group_admin'];
const OPERATORS: readonly GroupRole[] = ['assessment_operator', 'rbac_group_admin'];

interface GroupOfCaller {
  organization_id: number;
  /** `null` for who is no member. */
  role: string | null;
}

const groupOfCaller = prepare<{ group: number; caller: number }, GroupOfCaller>((db, p) =>
  db
    .selectFrom('assessment_groups')
    .leftJoin('group_members', (join) =>
      join
        .onRef('group_members.group_id', '=', 'assessment_groups.id')
        .on('group_members.user_id', '=', p.caller),
    )
    .select(['assessment_groups.organization_id', 'group_members.role'])
    .where('assessment_groups.id', '=', p.group),
);

/**
 * @throws Failure `invalid` for a group that the caller does not reach or that is of another organization, `forbidden`
 *   for who may not create assessments in it
 */
export async function requireCreator(
  db: Reader,
  caller: Caller,
  organizationId: number,
  groupId: number,
): Promise<void> {
  const [group] = Number.isSafeInteger(groupId)
    ? await groupOfCaller(db, { group: groupId, caller: caller.userId ?? -1 })
    : [];
  const isAdmin = administers(caller, organizationId);
  if (group === undefined || group.organization_id !== organizationId || (!isAdmin && group.role === null))
    throw unknownGroup(groupId);
  if (!isAdmin && !CREATORS.includes(group.role as GroupRole))
    throw new Failure(
      'forbidden',
      `Assessments are put into a group by admins, and by ${CREATORS.join(' or ')} there.`,
    );
}

/** @throws Failure `forbidden` for who is no admin and has no role in the group that lets them change its assessments */
export async function requireOperator(db: Reader, caller: Caller, groupId: number | null): Promise<void> {
  const [group] =
    groupId === null ? [] : await groupOfCaller(db, { group: groupId, caller: caller.userId ?? -1 });
  if (OPERATORS.includes(group?.role as GroupRole)) return;
  throw new Failure(
    'forbidden',
    `Only admins change an assessment, and who is ${OPERATORS.join(' or ')} in its group.`,
  );
}
