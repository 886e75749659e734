import { useQuery, queryOptions } from '@tanstack/react-query';
import type { VulnerabilityComment } from '../../../client/src/openapi-types.ts';
import { api, type Assessment, type Vulnerability, type VulnerabilityWithRights } from '../queries/client.ts';

/** Reads the signed-in user. */
export const currentUserQuery = queryOptions({
  queryKey: ['who-am-i'],
  queryFn: async ({ signal }) => (await api.GET('/v1/users/whoami', { signal })).data,
  staleTime: Infinity,
});

/** Whether the user is staff, who alone see drafts; undefined until it is known. */
export const useIsStaff = (): boolean | undefined => useQuery(currentUserQuery).data?.staff;

/** What a role in an assessment can permit (operation 36). */
export type Permission = keyof NonNullable<Assessment['permissions']>;

/** Reads the permissions of users other than admins, by the uid of each assessment that they can read. */
const permissionsQuery = (accessibleCount: number | undefined) =>
  queryOptions({
    // Access that was given or taken away changes the count.
    queryKey: ['permissions', accessibleCount],
    async queryFn({ signal }) {
      const permissions = new Map<string, NonNullable<Assessment['permissions']>>();
      const query = { include_permissions: true, 'page[size]': 200, 'page[after]': '' };
      for await (const assessment of api.rows('/v1/assessments', { params: { query }, signal }))
        if (assessment.permissions !== undefined) permissions.set(assessment.uid, assessment.permissions);
      return permissions;
    },
    staleTime: 60_000,
  });

/** The user's permissions. While they load, none. */
export interface Permissions {
  isKnown: boolean;
  /** Whether an assessment permits it; without a uid, whether any does. */
  allows(permission: Permission, assessmentUid?: string): boolean;
  /**
   * Whether every one of these assessments permits it; without uids, every one whose vulnerabilities the user reads.
   */
  allowsAll(permission: Permission, assessmentUids?: readonly string[]): boolean;
  /** Whether the user is known to have no role in any assessment. */
  isWithoutRole: boolean;
}

/** The user's permissions in assessments. Admins and staff have all of them. */
export function usePermissions(): Permissions {
  const { data: user } = useQuery(currentUserQuery);
  const isOrdinary = user !== undefined && user.admin !== true;
  const { data: permissions } = useQuery({
    ...permissionsQuery(user?.accessible_assessment_ids?.length),
    enabled: isOrdinary,
  });
  if (!isOrdinary)
    return {
      isKnown: user !== undefined,
      allows: () => user !== undefined,
      allowsAll: () => user !== undefined,
      isWithoutRole: false,
    };
  const all = permissions ?? new Map<string, NonNullable<Assessment['permissions']>>();
  return {
    isKnown: permissions !== undefined,
    allows: (permission, uid) =>
      uid === undefined
        ? [...all.values()].some((one) => one[permission])
        : all.get(uid)?.[permission] === true,
    allowsAll(permission, uids) {
      const considered =
        uids === undefined
          ? [...all.values()].filter((one) => one.read_vulnerabilities)
          : uids.map((uid) => all.get(uid));
      return considered.length > 0 && considered.every((one) => one?.[permission] === true);
    },
    isWithoutRole: permissions?.size === 0,
  };
}

/** The user's permissions on a vulnerability. */
export type VulnerabilityRights = Pick<
  VulnerabilityWithRights['may'],
  'edit' | 'triage' | 'dismiss' | 'comment'
>;

type RatedVulnerability = Pick<Vulnerability, 'assessment_id' | 'reported_by_staff'>;

/** Returns a function that derives the user's permissions on a vulnerability of a list. */
export function useListRights(): (vulnerability: RatedVulnerability) => VulnerabilityRights {
  const { data: user } = useQuery(currentUserQuery);
  const permissions = usePermissions();
  return ({ assessment_id: uid, reported_by_staff: byStaff }) => ({
    edit: permissions.allows('report', uid) && (!byStaff || user?.staff === true),
    triage: permissions.allows('triage', uid),
    comment: permissions.allows('comment', uid),
    dismiss: permissions.allows('dismiss', uid),
  });
}

/**
 * Returns a function that tells whether the user may delete a comment or a file. Authors delete their own and admins
 * delete all, but only staff delete what staff made.
 */
export function useCanDelete(
  canComment: boolean,
): (item: Pick<VulnerabilityComment, 'user' | 'by_staff'>) => boolean {
  const { data: signedIn } = useQuery(currentUserQuery);
  return ({ user, by_staff: byStaff }) =>
    signedIn !== undefined &&
    (signedIn.staff || !byStaff) &&
    (signedIn.admin === true || (canComment && user?.id === signedIn.id));
}

/** Whether the user may import reports: findings, or at least hosts and ports. */
export const useCanImport = (): boolean => usePermissions().allows('write_assets');

const WRITE_SCOPE = /^asset_(gw|boss_ow|client_ow|boss_lw|client_lw)$/;

type ListedAsset = { listings: readonly { listingUid: string }[] };

/** The user's permissions on assets, from their scopes and their roles in the assessments that list the asset. */
export function useAssetPermissions() {
  const { data } = useQuery(currentUserQuery);
  const permissions = usePermissions();
  const scopes = data?.scopes ?? [];
  const hasScope = scopes.some((scope) => WRITE_SCOPE.test(scope));
  const isOrganizationWide = scopes.some((scope) => WRITE_SCOPE.test(scope) && !scope.endsWith('_lw'));
  const tagsAll = scopes.some((scope) => /^tag_[go]w$/.test(scope));
  const tagsListed = scopes.includes('tag_lw');
  const isListed = ({ listings }: ListedAsset) =>
    listings.some(({ listingUid }) => permissions.allows('write_assets', listingUid));
  const writesAny = permissions.allows('write_assets');
  return {
    /** May create assets. */
    write: isOrganizationWide || (hasScope && writesAny),
    /** May delete assets, and create them without a listing; needs a scope for the organization. */
    organizationWide: isOrganizationWide,
    /** Has a scope that writes assets. */
    hasScope,
    /** May create, rename and delete tags. */
    tag: tagsAll || (tagsListed && writesAny),
    /** May edit an asset. */
    writeTo: (asset: ListedAsset) => isOrganizationWide || (hasScope && isListed(asset)),
    /** May change the tags of an asset. */
    tagOf: (asset: ListedAsset) => tagsAll || (tagsListed && isListed(asset)),
    /** May change the listing of an assessment; without a uid, of any. */
    list: (uid?: string) => hasScope && permissions.allows('write_assets', uid),
  };
}

/** A group of the user, with their permissions in it. */
interface OwnGroup {
  id: number;
  name: string;
  /** Creates assessments in the group. */
  creates: boolean;
  /** Manages members, and moves assessments. */
  manages: boolean;
}

/** Reads the groups of a user who is no admin. */
export const ownGroupsQuery = (userUid: string) =>
  queryOptions({
    queryKey: ['own-groups', userUid],
    async queryFn({ signal }) {
      const groups: OwnGroup[] = [];
      const query = { 'page[size]': 200 };
      for await (const { id, name } of api.rows('/v1/assessment_groups', { params: { query }, signal }))
        groups.push({ id, name, ...(await readGroupRights(id, userUid, signal)) });
      return groups;
    },
    staleTime: 60_000,
  });

async function readGroupRights(
  id: number,
  userUid: string,
  signal: AbortSignal,
): Promise<Pick<OwnGroup, 'creates' | 'manages'>> {
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { data } = await api.GET('/api/assessment/v1/assessment-groups/{assessmentGroupId}/members', {
      params: {
        path: { assessmentGroupId: id },
        query: { role: 'assessment_creator', page, perPage: 200 },
      },
      signal,
    });
    const { actions, pagination } = data.metadata;
    // Only group admins add members.
    const manages = actions.some(({ name }) => name === 'batchAdd');
    if (manages || data.members.some((member) => member.userUid === userUid))
      return { creates: true, manages };
    pages = pagination.totalPages;
  }
  return { creates: false, manages: false };
}

/** The groups of a user who is no admin; undefined for admins, and until they are known. */
export function useOwnGroups(): readonly OwnGroup[] | undefined {
  const { data: user } = useQuery(currentUserQuery);
  const { data } = useQuery({
    ...ownGroupsQuery(user?.uid ?? ''),
    enabled: user !== undefined && user.admin !== true,
  });
  return data;
}

/** Whether the user may create assessments, as an admin or by a role in a group; undefined until it is known. */
function useCanCreate(): boolean | undefined {
  const { data: user } = useQuery(currentUserQuery);
  const groups = useOwnGroups();
  return user?.admin === true ? true : groups?.some(({ creates }) => creates);
}

/** Whether the user may create assessments; false until it is known. */
export const useCanCreateAssessments = (): boolean => useCanCreate() === true;

/** Whether the user has no access to any assessment and may not create one. */
export function useHasNoAccess(): boolean {
  const { data: user } = useQuery(currentUserQuery);
  const canCreate = useCanCreate();
  return user?.accessible_assessment_ids?.length === 0 && canCreate === false;
}
