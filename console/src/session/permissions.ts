import { useQuery, queryOptions } from '@tanstack/react-query';
import { api } from '../queries/client.ts';

const WRITE_SCOPE = /^asset_(gw|boss_ow|client_ow|boss_lw|client_lw)$/;

/** The asset permissions of the user, derived from their scopes. */
export function useAssetPermissions() {
  const { data } = useQuery(currentUserQuery);
  const scopes = data?.scopes ?? [];
  return {
    /** May create and edit assets, including their listings. */
    write: scopes.some((scope) => WRITE_SCOPE.test(scope)),
    /** May delete assets, and create them without a listing; needs a scope for the organization. */
    organizationWide: scopes.some((scope) => WRITE_SCOPE.test(scope) && !scope.endsWith('_lw')),
    tag: scopes.some((scope) => /^tag_[gol]w$/.test(scope)),
  };
}

const CREATOR_ROLES = ['assessment_creator', 'rbac_group_admin'] as const;
const OPERATOR_ROLES = ['assessment_operator', 'rbac_group_admin'] as const;

/** Whether a user has one of these roles in a group. */
async function hasGroupRole(
  roles: readonly ((typeof CREATOR_ROLES)[number] | (typeof OPERATOR_ROLES)[number])[],
  userUid: string,
  id: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (const role of roles)
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const { data } = await api.GET('/api/assessment/v1/assessment-groups/{assessmentGroupId}/members', {
        params: { path: { assessmentGroupId: id }, query: { role, page, perPage: 200 } },
        signal,
      });
      if (data.members.some((member) => member.userUid === userUid)) return true;
      pages = data.metadata.pagination.totalPages;
    }
  return false;
}

/** Whether the user may edit the assessments of a group. */
export function useCanEditAssessments(groupId: number | null | undefined): boolean {
  const { data: user } = useQuery(currentUserQuery);
  const dependsOnGroups = user !== undefined && user.admin !== true && typeof groupId === 'number';
  const { data = false } = useQuery({
    queryKey: ['group', groupId, 'operates'],
    queryFn: async ({ signal }) => {
      // Only members can list the members of a group.
      const { data: ownGroups } = await api.GET('/v1/assessment_groups', {
        params: { query: { 'page[size]': 200 } },
        signal,
      });
      const isMember = ownGroups.some(({ id }) => id === groupId);
      return isMember && hasGroupRole(OPERATOR_ROLES, user?.uid ?? '', groupId ?? 0, signal);
    },
    enabled: dependsOnGroups,
    staleTime: 60_000,
  });
  return user?.admin === true || (dependsOnGroups && data);
}

/** Whether the user may create assessments, as an admin or by a role in a group; undefined until it is known. */
function useCanCreate(): boolean | undefined {
  const { data: user } = useQuery(currentUserQuery);
  const dependsOnGroups = user !== undefined && user.admin !== true;
  const { data } = useQuery({
    queryKey: ['groups-to-create-in'],
    async queryFn({ signal }) {
      const query = { 'page[size]': 200 };
      for await (const { id } of api.rows('/v1/assessment_groups', { params: { query }, signal }))
        if (await hasGroupRole(CREATOR_ROLES, user?.uid ?? '', id, signal)) return true;
      return false;
    },
    enabled: dependsOnGroups,
    staleTime: 60_000,
  });
  return dependsOnGroups ? data : user?.admin;
}

/** Whether the user may create assessments; false until it is known. */
export const useCanCreateAssessments = (): boolean => useCanCreate() === true;

/** Whether the user has no access to any assessment and may not create one. */
export function useHasNoAccess(): boolean {
  const { data: user } = useQuery(currentUserQuery);
  const canCreate = useCanCreate();
  return user !== undefined && user.admin !== true && user.assessment_ids.length === 0 && canCreate === false;
}

/** Reads the signed-in user. */
export const currentUserQuery = queryOptions({
  queryKey: ['who-am-i'],
  queryFn: async ({ signal }) => (await api.GET('/v1/users/whoami', { signal })).data,
  staleTime: Infinity,
});
