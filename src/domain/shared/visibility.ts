import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Principal, Caller } from '../../auth/callers.ts';
import { type Role, ROLES, rolesWith } from '../../auth/roles.ts';
import { type ScopeRule, scopeRuleOf, type Scope } from '../../auth/scopes.ts';
import type { ReadConnection } from '../../db/database.ts';
import { anyOf, selectIds } from '../../db/dialect-sql.ts';

/**
 * What a caller can see, or change, by the rules of docs/decided.md, section 10, and docs/roles.md. Callers with the
 * same kind, rules and roles share a `key`; queries are prepared once for each key.
 */
export interface Visibility {
  key: string;
  kind: CallerKind;
  rules: readonly ScopeRule[];
  /** Where a rule is limited to listings: the roles of a client user in a listing that permit the operation. */
  roles: readonly Role[];
  /** Whether the operation only reads: then a client user's access to an assessment gives more than its listing. */
  isReading: boolean;
}

/** `assigned` are staff limited to some organizations, `staff` are the others. */
type CallerKind = 'staff' | 'assigned' | 'client';

function kindOf({ staff, assignedOrganizations }: Principal): CallerKind {
  if (!staff) return 'client';
  return assignedOrganizations === null ? 'staff' : 'assigned';
}

export interface VisibilityParameters {
  /** -1 for the command line, which has no account. */
  callerId: number;
  /** -1 for staff, who belong to no organization. */
  callerOrganizationId: number;
}

/**
 * @param accepted the scopes that the operation accepts; other scopes are ignored
 * @param permission what the operation does with the assets of a listing
 */
export function visibilityByScopes(
  caller: Caller,
  accepted: readonly Scope[],
  permission: 'read' | 'write_assets',
): Visibility {
  const granted = accepted.filter((scope) => scope !== 'api' && caller.scopes.has(scope));
  const all = granted.map((scope) => scopeRuleOf(scope as Exclude<Scope, 'api' | 'api_read'>));
  const rules = all.filter(
    (rule, index) => !all.some((other, i) => i !== index && includes(other, rule, i < index)),
  );
  const ruleKeys = rules.map(({ level, writableBy }) => `${level}:${writableBy?.join('+') ?? '*'}`).sort();
  const kind = kindOf(caller);
  // Admins have every permission, whatever their roles.
  const effective = caller.admin ? 'read' : permission;
  return {
    key: `${kind}|${ruleKeys.join('|')}|${permission}|${effective}`,
    kind,
    rules,
    roles: rolesWith(effective),
    isReading: permission === 'read',
  };
}

const WIDTH = { listing: 0, organization: 1, global: 2 } as const;

/** Whether one rule makes the other redundant. Listings hold only assets of their own organization. */
function includes(rule: ScopeRule, other: ScopeRule, isFirst: boolean): boolean {
  const hasSameWriters = String(rule.writableBy) === String(other.writableBy);
  if (rule.level === other.level && hasSameWriters) return isFirst;
  return WIDTH[rule.level] >= WIDTH[other.level] && (rule.writableBy === null || hasSameWriters);
}

/**
 * The visibility of an account where an operation has no scopes of its own: staff see everything, or their assigned
 * organizations; admins see their organization; other users see the assessments in which a role permits it.
 * @param permission `read` includes `infra_admin`, who sees no vulnerabilities
 */
export function visibilityOf(
  account: Principal,
  permission: 'read' | 'read_vulnerabilities' = 'read_vulnerabilities',
): Visibility {
  const kind = kindOf(account);
  const level =
    kind === 'staff' ? 'global' : kind === 'assigned' || account.admin ? 'organization' : 'listing';
  return {
    key: `account:${kind}:${level}${level === 'listing' ? `:${permission}` : ''}`,
    kind,
    rules: [{ level, writableBy: null }],
    roles: rolesWith(permission),
    isReading: true,
  };
}

export function visibilityParameters(caller: Caller): VisibilityParameters {
  return { callerId: caller.userId ?? -1, callerOrganizationId: caller.organizationId ?? -1 };
}

/** The condition that a row of `organizations`, an organization or a group, is visible. */
export function organizationIsVisible(visibility: Visibility, p: VisibilityParameters): RawBuilder<SqlBool> {
  const { rules, kind } = visibility;
  const levels = [...new Set(rules.map(({ level }) => level))];
  if (levels.includes('global')) return TRUE;
  const isVisible = (id: Expression<unknown>): RawBuilder<SqlBool> =>
    anyOf(
      levels.map((level) =>
        level === 'organization'
          ? inAccessibleOrganization({ kind }, id, p)
          : sql<SqlBool>`exists (select 1 from assessments where assessments.organization_id = ${id} and ${inListing(visibility, p)})`,
      ),
    );
  return sql<SqlBool>`(${isVisible(sql.ref('organizations.id'))} or exists (
    select 1 from organization_group_members
    where organization_group_members.group_id = organizations.id
      and ${isVisible(sql.ref('organization_group_members.organization_id'))}))`;
}

/**
 * The condition that an organization is the client user's own, is assigned to the staff user or, for other staff, any.
 * `isMemberOf` is the same in memory.
 * @param organizationId the id of the organization
 */
export function inAccessibleOrganization(
  { kind }: Pick<Visibility, 'kind'>,
  organizationId: Expression<unknown>,
  p: VisibilityParameters,
): RawBuilder<SqlBool> {
  switch (kind) {
    case 'staff':
      return TRUE;
    case 'assigned':
      return sql<SqlBool>`${organizationId} in (select organization_id from staff_organizations where user_id = ${p.callerId})`;
    case 'client':
      return sql<SqlBool>`${organizationId} = ${p.callerOrganizationId}`;
  }
}

/** The organizations whose rows an account can see; `null` for all. `inAccessibleOrganization` is the same in SQL. */
export function accessibleOrganizations({
  staff,
  assignedOrganizations,
  organizationId,
}: Principal): readonly number[] | null {
  if (staff) return assignedOrganizations;
  return organizationId === null ? [] : [organizationId];
}

/** The condition that a row of `assessments`, a listing, is visible. */
export function assessmentIsVisible(visibility: Visibility, p: VisibilityParameters): RawBuilder<SqlBool> {
  const { rules, kind } = visibility;
  return anyOf(
    rules.map(({ level }) => {
      if (level === 'global') return TRUE;
      return level === 'organization'
        ? inAccessibleOrganization({ kind }, sql.ref('assessments.organization_id'), p)
        : inListing(visibility, p);
    }),
  );
}

/** The condition that a row of `vulnerabilities` is visible: its assessment is, and only staff see drafts. */
export function vulnerabilityIsVisible(visibility: Visibility, p: VisibilityParameters): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${isDraftVisible(visibility)} and exists (select 1 from assessments
    where assessments.id = vulnerabilities.assessment_id and ${assessmentIsVisible(visibility, p)}))`;
}

/** The condition that a row of `vulnerabilities` is no draft, unless staff read it. */
export function isDraftVisible({ kind }: Pick<Visibility, 'kind'>): RawBuilder<SqlBool> {
  return kind === 'client' ? sql<SqlBool>`vulnerabilities.draft = 0` : TRUE;
}

export const TRUE = sql<SqlBool>`1 = 1`;

/** The listings in which a client user has one of the roles; for staff, those of their organizations. */
export function inListing(visibility: Visibility, p: VisibilityParameters): RawBuilder<SqlBool> {
  if (visibility.kind !== 'client')
    return inAccessibleOrganization(visibility, sql.ref('assessments.organization_id'), p);
  return hasRole(sql`${p.callerId}`, visibility.roles);
}

/** Selects the role of a user by name in the row of `assessments`: at most one row. */
function roleByName(user: RawBuilder<unknown>, roles: readonly Role[]): RawBuilder<unknown> {
  return sql`select assessment_access.role from assessment_access
    where assessment_access.assessment_id = assessments.id and assessment_access.user_id = ${user}
      and ${isOneOf('assessment_access.role', roles)}`;
}

/** Selects the role of a user in the group of the row of `assessments`: at most one row. */
function roleByGroup(user: RawBuilder<unknown>, roles: readonly Role[]): RawBuilder<unknown> {
  return sql`select membership.role from assessment_group_members as membership
    where membership.group_id = assessments.group_id and membership.user_id = ${user}
      and ${isOneOf('membership.role', roles)}`;
}

/** The condition that a user has one of the roles in the row of `assessments`. */
export function hasRole(user: RawBuilder<unknown>, roles: readonly Role[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`(exists (${roleByName(user, roles)}) or exists (${roleByGroup(user, roles)}))`;
}

/**
 * Reads the assessments that limit a list. Given as a list, they tell PostgreSQL's planner how many they are; from a
 * subselect it expects as many in every group.
 * @returns the ids of the assessments in which a client user has one of the roles; none where no rule is limited to
 *   listings
 */
export async function loadAssessmentIds(
  db: ReadConnection,
  { kind, rules, roles }: Visibility,
  p: VisibilityParameters,
): Promise<readonly number[]> {
  if (kind !== 'client' || rules.every(({ level }) => level !== 'listing')) return [];
  return selectIds(db, assessmentIdsWithRole(sql`${p.callerId}`, roles));
}

/** Selects the ids of the assessments in which a user has one of the roles, each once. */
export function assessmentIdsWithRole(
  user: RawBuilder<unknown>,
  roles: readonly Role[],
): RawBuilder<unknown> {
  return sql`select assessment_access.assessment_id from assessment_access
      where assessment_access.user_id = ${user} and ${isOneOf('assessment_access.role', roles)}
    union select grouped.id from assessment_group_members as membership
      join assessments as grouped on grouped.group_id = membership.group_id
      where membership.user_id = ${user} and ${isOneOf('membership.role', roles)}`;
}

function isOneOf(column: string, roles: readonly Role[]): RawBuilder<SqlBool> {
  if (roles.length === ROLES.length) return TRUE;
  return sql<SqlBool>`${sql.ref(column)} in (${sql.join(roles.map((role) => sql.lit(role)))})`;
}

/** Caches one value for each visibility key; there are few. */
export function memoizeByVisibility<T>(build: (visibility: Visibility) => T): (visibility: Visibility) => T {
  const cache = new Map<string, T>();
  return (visibility) => {
    let value = cache.get(visibility.key);
    if (value === undefined) {
      value = build(visibility);
      cache.set(visibility.key, value);
    }
    return value;
  };
}
