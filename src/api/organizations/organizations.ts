import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import {
  organizationForCaller,
  organizationList,
  type OrganizationProfile,
  organizationToChange,
} from '../../domain/organizations/organization-list.ts';
import { holdOrganization, renameOrganization } from '../../domain/organizations/organizations.ts';
import { createOrganizationAs } from '../../domain/users/users.ts';
import { requireVersion } from '../../domain/shared/versions.ts';
import { requireSecondFactor } from '../../domain/sign-in/second-factors.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { SMALL_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, MAX_TEXT, nameText, storedText } from '../../http/schemas.ts';
import { UNKNOWN_ID } from '../../http/validation/validation.ts';
import { LocationHeader, versioned } from '../../http/etags.ts';
import { V1_ACCESS } from '../v1-params.ts';

const collection = '/organizations';
const path = `${collection}/:uid`;

/** What cannot be the uid of an organization is one that none has. */
const OrganizationPath = Type.Object({
  uid: Type.String({
    maxLength: 50,
    pattern: '^[0-9a-z]{1,50}$',
    [UNKNOWN_ID]: '-',
    description: 'The uid of an organization.',
    examples: ['acme'],
  }),
});

const count = (description: string) =>
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 0,
    examples: [12],
    description: `${description} \`null\` for who is no admin.`,
  });

const OrganizationBody = Type.Object(
  {
    id: Type.Integer(),
    uid: storedText('acme'),
    name: storedText('Acme Freight'),
    created_at: DateTime,
    require_second_factor: Type.Boolean({
      description: 'Whether its users need a second factor to sign in.',
    }),
    user_count: count('With who is invited, and without who is banned.'),
    assessment_count: count('Its assessments.'),
    asset_count: count('Its assets.'),
  },
  { title: 'Organization' },
);

function organizationBody(profile: OrganizationProfile) {
  const { id, uid, name, createdAt, requireSecondFactor: required, counts } = profile;
  return {
    id,
    uid,
    name,
    created_at: isoTime(createdAt),
    require_second_factor: required,
    user_count: counts?.users ?? null,
    assessment_count: counts?.assessments ?? null,
    asset_count: counts?.assets ?? null,
  };
}

const declareListOrganizations = (context: Context) =>
  listOperation(context, {
    id: 'listOrganizations',
    number: 61,
    summary: 'List organizations',
    description: 'Your own organization; for staff, those that they reach, by name.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: organizationList,
    usualSort: { order: 'name' },
    schema: OrganizationBody,
    row: organizationBody,
  });

const declareGetOrganization = ({ db }: Context) =>
  operation({
    id: 'getOrganization',
    number: 62,
    summary: 'Get an organization',
    description: 'Your own organization; for staff, one that they reach.',
    method: 'GET',
    path,
    access: V1_ACCESS,
    params: OrganizationPath,
    answers: { 200: { description: 'The organization.', schema: OrganizationBody } },
    versioned: true,
    async handler({ caller, params: { uid } }) {
      const profile = await organizationForCaller(db.read, caller, uid);
      return versioned(profile.version, organizationBody(profile));
    },
  });

const NewOrganization = Type.Object(
  {
    uid: Type.String({
      maxLength: MAX_TEXT,
      pattern: '^[0-9a-z]{1,50}$',
      examples: ['orbit'],
      description: 'It stays, and no other organization or group of them has it.',
    }),
    name: nameText('Orbit Logistics'),
  },
  { title: 'New organization' },
);

const declareCreateOrganization = ({ clock }: Context) =>
  operation({
    id: 'createOrganization',
    number: 63,
    summary: 'Create an organization',
    description:
      'For staff. Who is assigned to organizations is assigned to this one as well, in the same step.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: NewOrganization,
    bodyLimit: SMALL_BODY,
    answers: {
      201: {
        description: 'The organization.',
        schema: OrganizationBody,
        headers: { Location: LocationHeader },
      },
    },
    versioned: true,
    repeats: true,
    handler({ caller, change, body: { uid, name } }) {
      const act = { actor: caller, now: clock() };
      return change(async (tx) => {
        const { id } = await createOrganizationAs(tx, act, { uid, name });
        // They may not reach it by what this request knows of them.
        const assigned = caller.assigned === null ? null : [...caller.assigned, id];
        const profile = await organizationForCaller(tx, { ...caller, assigned }, uid);
        return versioned(profile.version, organizationBody(profile), { location: `${collection}/${uid}` });
      });
    },
  });

const OrganizationChange = Type.Object(
  {
    name: Type.Optional(nameText('Acme Freight')),
    require_second_factor: Type.Optional(
      Type.Boolean({
        description: 'Sessions of users who have none end, and they set one up when they sign in again.',
        examples: [false],
      }),
    ),
  },
  { title: 'Organization change' },
);

const declareUpdateOrganization = ({ clock, db }: Context) =>
  operation({
    id: 'updateOrganization',
    number: 64,
    summary: 'Change an organization',
    description: 'Its name, and whether its users need a second factor. For admins.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: OrganizationPath,
    body: OrganizationChange,
    bodyLimit: SMALL_BODY,
    answers: { 200: { description: 'The organization as it is now.', schema: OrganizationBody } },
    versioned: true,
    async handler({ caller, expected, params: { uid }, body: { name, require_second_factor: required } }) {
      const act = { actor: caller, now: clock() };
      const profile = await db.write(async (tx) => {
        await holdOrganization(tx, uid);
        const { version } = await organizationToChange(tx, caller, uid);
        requireVersion(expected, version);
        if (name !== undefined) await renameOrganization(tx, act, uid, name);
        if (required !== undefined) await requireSecondFactor(tx, act, uid, required);
        return organizationForCaller(tx, caller, uid);
      });
      return versioned(profile.version, organizationBody(profile));
    },
  });

export const ORGANIZATION_OPERATIONS = [
  declareListOrganizations,
  declareGetOrganization,
  declareCreateOrganization,
  declareUpdateOrganization,
];
