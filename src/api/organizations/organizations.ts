import { Type } from 'typebox';
import { DEFAULT_DISMISSAL_ROLE, DISMISSAL_ROLES } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import {
  requireVisibleOrganization,
  organizationList,
  type OrganizationProfile,
  requireAdministeredOrganization,
} from '../../domain/organizations/organization-list.ts';
import {
  lockOrganization,
  renameOrganization,
  setDismissalRole,
} from '../../domain/organizations/organizations.ts';
import { createOrganization } from '../../domain/users/staff-organizations.ts';
import { requireVersion } from '../../domain/shared/versions.ts';
import { setSecondFactorRequirement } from '../../domain/sign-in/second-factor-requirement.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { SMALL_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { DateTimeSchema, MAX_TEXT, nameSchema, nullable, textSchema } from '../../http/schemas.ts';
import { ALLOW_UNKNOWN_ID } from '../../http/validation/derived-schemas.ts';
import { LocationHeader } from '../../http/etags.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { V1_ACCESS } from '../v1-params.ts';

const collection = '/organizations';
const path = `${collection}/:uid`;

/** A value that is not a uid matches no organization, so the response is a 404. */
const OrganizationParamsSchema = Type.Object({
  uid: Type.String({
    maxLength: 50,
    pattern: '^[0-9a-z]{1,50}$',
    [ALLOW_UNKNOWN_ID]: '-',
    description: 'The uid of an organization.',
    examples: ['acme'],
  }),
});

const countSchema = (description: string) =>
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 0,
    examples: [12],
    description: `${description} \`null\` if the caller is not an admin.`,
  });

const OrganizationSchema = Type.Object(
  {
    id: Type.Integer(),
    uid: textSchema('acme'),
    name: textSchema('Acme Freight'),
    created_at: DateTimeSchema,
    require_second_factor: Type.Boolean({
      description: 'Whether users must have a second factor to sign in.',
    }),
    dismissal_role: Type.String({
      enum: [...DISMISSAL_ROLES],
      maxLength: 32,
      description:
        'The role that may dismiss vulnerabilities (statuses 6 to 9), beside admins and staff. `assessment_operator` includes `rbac_group_admin`.',
      examples: [DEFAULT_DISMISSAL_ROLE],
    }),
    user_count: countSchema('The number of users, including invited users and excluding banned ones.'),
    assessment_count: countSchema('The number of assessments.'),
    asset_count: countSchema('The number of assets.'),
  },
  { title: 'Organization' },
);

function toOrganizationBody(profile: OrganizationProfile) {
  const { id, uid, name, createdAt, requireSecondFactor: required, dismissalRole, counts } = profile;
  return {
    id,
    uid,
    name,
    created_at: formatTimestamp(createdAt),
    require_second_factor: required,
    dismissal_role: dismissalRole,
    user_count: counts?.users ?? null,
    assessment_count: counts?.assessments ?? null,
    asset_count: counts?.assets ?? null,
  };
}

const listOrganizationsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listOrganizations',
    number: 61,
    summary: 'List organizations',
    description:
      'Lists the organization of the caller; for staff, the organizations they can access, by name.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: organizationList,
    defaultSort: { sort: 'name' },
    schema: OrganizationSchema,
    toRow: toOrganizationBody,
  });

const getOrganizationOperation = ({ db }: Context) =>
  operation({
    id: 'getOrganization',
    number: 62,
    summary: 'Get an organization',
    description: 'Returns the organization of the caller; for staff, any organization they can access.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: OrganizationParamsSchema,
    responses: { 200: { description: 'The organization.', schema: OrganizationSchema } },
    versioned: true,
    async handler({ caller, params: { uid } }) {
      const profile = await requireVisibleOrganization(db.read, caller, uid);
      return versionedResult(profile.version, toOrganizationBody(profile));
    },
  });

const NewOrganizationSchema = Type.Object(
  {
    uid: Type.String({
      maxLength: MAX_TEXT,
      pattern: '^[0-9a-z]{1,50}$',
      examples: ['orbit'],
      description:
        'Cannot be changed. Must be unique among organizations and groups of organizations. Staff who are assigned to particular organizations get it with four random characters at its end.',
    }),
    name: nameSchema('Orbit Logistics'),
  },
  { title: 'New organization' },
);

const createOrganizationOperation = ({ clock }: Context) =>
  operation({
    id: 'createOrganization',
    number: 63,
    summary: 'Create an organization',
    description:
      'Requires staff. Staff who are assigned to particular organizations are assigned to the new one as well.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: NewOrganizationSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    responses: {
      201: {
        description: 'The created organization.',
        schema: OrganizationSchema,
        headers: { Location: LocationHeader },
      },
    },
    versioned: true,
    idempotency: true,
    handler({ caller, writeOnce, body }) {
      const by = { actor: caller, now: clock() };
      return writeOnce(async (tx) => {
        const { id, uid } = await createOrganization(tx, by, body);
        // The caller of this request does not have access to the new organization yet.
        const assignedOrganizations =
          caller.assignedOrganizations === null ? null : [...caller.assignedOrganizations, id];
        const profile = await requireVisibleOrganization(tx, { ...caller, assignedOrganizations }, uid);
        return versionedResult(profile.version, toOrganizationBody(profile), {
          location: `${collection}/${uid}`,
        });
      });
    },
  });

const UpdateOrganizationSchema = Type.Object(
  {
    name: Type.Optional(nameSchema('Acme Freight')),
    require_second_factor: Type.Optional(
      Type.Boolean({
        description:
          'Ends the sessions of users without a second factor and the access of their applications; users set one up at their next sign-in.',
        examples: [false],
      }),
    ),
    dismissal_role: Type.Optional(
      nullable(
        Type.Enum(DISMISSAL_ROLES, {
          type: 'string',
          description:
            'The role that may dismiss vulnerabilities (statuses 6 to 9), beside admins and staff. `null` sets the default, `assessment_member`.',
          examples: ['assessment_operator'],
        }),
      ),
    ),
  },
  { title: 'Organization change' },
);

const updateOrganizationOperation = ({ clock }: Context) =>
  operation({
    id: 'updateOrganization',
    number: 64,
    summary: 'Update an organization',
    description:
      'Changes the name, whether users must have a second factor, and who may dismiss vulnerabilities. Requires an admin.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: OrganizationParamsSchema,
    body: UpdateOrganizationSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    responses: { 200: { description: 'The updated organization.', schema: OrganizationSchema } },
    versioned: true,
    async handler({
      caller,
      ifMatch,
      params: { uid },
      body: { name, require_second_factor: required, dismissal_role: dismissalRole },
      write,
    }) {
      const by = { actor: caller, now: clock() };
      const profile = await write(async (tx) => {
        await lockOrganization(tx, uid);
        const { version } = await requireAdministeredOrganization(tx, caller, uid);
        requireVersion(ifMatch, version);
        if (name !== undefined) await renameOrganization(tx, by, uid, name);
        if (required !== undefined) await setSecondFactorRequirement(tx, by, uid, required);
        if (dismissalRole !== undefined)
          await setDismissalRole(tx, by, uid, dismissalRole ?? DEFAULT_DISMISSAL_ROLE);
        return requireVisibleOrganization(tx, caller, uid);
      });
      return versionedResult(profile.version, toOrganizationBody(profile));
    },
  });

export default operationsOf('v1', [
  listOrganizationsOperation,
  getOrganizationOperation,
  createOrganizationOperation,
  updateOrganizationOperation,
]);
